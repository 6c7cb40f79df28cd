"""Documents that are removed while a question is being answered: nobody is asked about passages that are gone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.store.maintenance.remove import remove
from tests.graph.inside import build
from tests.graph.replies import model, passages_in, step_of
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

pytestmark = pytest.mark.loopback

TOWNS = ("Halden", "Marrow", "Vesle", "Orrin")
QUESTION = "In which years were the weirs rebuilt?"


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    """A corpus of one page a town, each large enough for a window of its own."""
    for number, town in enumerate(TOWNS):
        more = " ".join(f"The {town} mill of {1700 + n} stands above the weir of {town}." for n in range(6))
        page = f"# {town}\n\nThe weir of {town} was rebuilt in {1901 + number}. {more}\n"
        (tmp_path / f"{town}.md").write_text(page)
    ingest([tmp_path / f"{town}.md" for town in TOWNS], tmp_path / "corpus")
    return tmp_path / "corpus"


async def _answered(
    corpus: Path, stub: OpenAIStub, gone: Sequence[int], monkeypatch: pytest.MonkeyPatch, **more: Any
) -> dict[str, Any]:
    """Stop after packing, remove the documents of some windows, or of all, and go on."""
    compiled = build().compile(checkpointer=InMemorySaver(), interrupt_after=["pack"])
    config: Any = {"configurable": {"thread_id": "t"}}
    settings = {"strategy": "none", "window_tokens": 130, "merge_threshold": 1.0, "model_retries": 0, **more}
    context = Context(corpus=str(corpus), model="openai:stub", base_url=stub.base_url, **settings)
    packed = await compiled.ainvoke({"question": QUESTION}, config, context=context)
    sources = {passage["id"]: passage["source"] for passage in packed["passages"]}
    windows = [{sources[excerpt["id"]] for excerpt in window} for window in packed["windows"]]
    assert len(windows) >= (1 if settings["synthesis"] == "stuff" else 3)
    names = {name for number, window in enumerate(windows) for name in window if number in gone or not gone}
    (corpus.parent / "tea.md").write_text("# Tea\n\nTea is drunk at five.\n")  # a corpus of nothing is another error
    await asyncio.to_thread(ingest, [corpus.parent / "tea.md"], corpus)
    await asyncio.to_thread(remove, corpus, sorted(names))
    return await compiled.ainvoke(None, config, context=context)


def _asked(stub: OpenAIStub) -> list[Request]:
    return [call.request for call in stub.calls if step_of(call.request) in ("create", "refine")]


@pytest.mark.parametrize("synthesis", ["stuff", "refine", "map_reduce"])
async def test_where_nothing_is_left_nobody_is_asked(
    synthesis: str, towns: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIStub(model()) as stub:
        state = await _answered(towns, stub, [], monkeypatch, synthesis=synthesis)
        assert _asked(stub) == []
    assert state["abstained"]
    assert state["citations"] == []
    assert {item["step"].partition(":")[0] for item in state["degraded"]} >= {"window"}


@pytest.mark.parametrize("synthesis", ["refine", "map_reduce"])
@pytest.mark.parametrize("gone", [[0], [1], [0, 1]])
async def test_a_window_that_is_gone_is_passed_over(
    synthesis: str, gone: list[int], towns: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIStub(model()) as stub:
        state = await _answered(towns, stub, gone, monkeypatch, synthesis=synthesis)
        asked = _asked(stub)
        assert all(passages_in(request) for request in asked)
        assert len(asked) == len(state["windows"]) - len(gone)
    assert not state["abstained"]
    assert state["citations"]
    assert [item["step"] for item in state["degraded"]] == [f"window:{number + 1}" for number in gone]


async def test_what_is_left_is_quoted_where_the_model_fails_at_it(towns: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIStub(model(map=Reply("no", status=500))) as stub:
        state = await _answered(towns, stub, [0], monkeypatch, synthesis="map_reduce")
    assert state["citations"]
    assert {item["step"].partition(":")[0] for item in state["degraded"]} == {"window", "map", "gather"}

"""A reader who waits for the model sees what was found, and the answer in its place as soon as it comes."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from tests.graph.inside import graph
from tests.graph.replies import model, step_of
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Script

pytestmark = pytest.mark.loopback

QUESTION = "Who built the Halden weir?"
SMALL = {"window_tokens": 80, "merge_threshold": 1.0, "strategy": "none"}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.agent.graph.slow_reply.WAIT_SECONDS", 0.01)


async def _heard(
    river: str, slow: str, *, question: str = QUESTION, usual: Script | None = None, **settings: Any
) -> list[tuple[str, Any]]:
    """Return the stream in order; the model says nothing in the step `slow` until the passages were shown."""
    shown, usual = threading.Event(), usual or model()

    def script(request: Request) -> Reply:
        if step_of(request) == slow and not shown.wait(60):
            raise TimeoutError("nothing was shown")
        return usual(request)

    heard: list[tuple[str, Any]] = []
    with OpenAIStub(script) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0, **settings)
        stream = graph.astream(
            {"question": question}, context=context, stream_mode=["messages", "custom"], subgraphs=True
        )
        async for _, mode, item in stream:
            heard.append((mode, item))
            # `map` asks as `create` does.
            if mode == "custom" and item["status"] == "waiting" and item["step"] in (slow, "map"):
                shown.set()
    return heard


def _waiting(heard: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [item for mode, item in heard if mode == "custom" and item["status"] == "waiting"]


@pytest.mark.parametrize(
    ("slow", "settings"),
    [
        ("create", {"strategy": "none"}),
        ("create", {**SMALL, "synthesis": "refine"}),
        ("rewrite", {}),
        ("rewrite", {"retrievers": ("bm25",)}),
        ("rerank", {"rerank": "llm"}),
        ("grade", {"grade": "llm"}),
    ],
)
async def test_the_passages_are_shown_while_the_model_is_awaited(
    slow: str, settings: dict[str, Any], river: str
) -> None:
    heard = await _heard(river, slow, **settings)
    (said,) = [each["answer"] for each in _waiting(heard) if each["step"] == slow]
    assert said.startswith("The model has not begun to answer yet.")
    assert "[1] weir.md" in said
    assert "Ida Marrow" in said


async def test_of_many_windows_the_best_is_shown_once(river: str) -> None:
    (said,) = _waiting(await _heard(river, "create", **SMALL, synthesis="map_reduce"))
    assert said["step"] == "map"
    assert "weir.md" in said["answer"]


async def test_nothing_takes_the_place_of_words_that_have_come(river: str) -> None:
    heard = await _heard(river, "create", strategy="none")
    modes = [mode for mode, item in heard if mode == "messages" or item["status"] == "waiting"]
    assert modes[0] == "custom"
    assert set(modes[1:]) == {"messages"}


async def test_a_model_that_begins_in_time_is_not_waited_for(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.agent.graph.slow_reply.WAIT_SECONDS", 3600.0)
    assert not _waiting(await _heard(river, "nothing"))


async def test_where_nothing_was_found_nothing_is_shown(river: str) -> None:
    nonsense = model(rewrite=Reply("qwertzu zyzzyva", delay=0.1))
    heard = await _heard(river, "nothing", question="zyzzyva qwertzu?", usual=nonsense, retrievers=("bm25",))
    assert not _waiting(heard)


async def test_a_reader_is_told_in_their_language(river: str) -> None:
    (said,) = _waiting(await _heard(river, "create", question="Wer hat das Wehr von Halden gebaut?", strategy="none"))
    assert said["answer"].startswith("Das Modell hat noch nicht zu antworten begonnen.")

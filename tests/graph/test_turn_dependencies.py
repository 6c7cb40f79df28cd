"""A turn begins with the documents as they are, and its steps go on with the generation that it began with."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

from anabranch.agent.graph.bindings import NONE_BOUND
from anabranch.agent.graph.dependencies import load_model
from anabranch.agent.graph.running_turn import RunningTurn
from anabranch.agent.nodes.settings import Context
from anabranch.errors import CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.models import local_servers
from anabranch.models.local_servers import LocalModel, LocalServer
from anabranch.models.usage import metered
from anabranch.store import corpus_handles, stores
from anabranch.store.passage_reader import Passages
from anabranch.store.protocol import Scope
from anabranch.store.stores import GENERATIONS, find_reader, open_corpus
from anabranch.types import Chunk
from tests.turn_records import turn_record


def turn_of(context: Context, generation: int = 0) -> RunningTurn:
    record = turn_record(generation=generation, question="")
    runtime: Any = None
    return RunningTurn("grade", {"turn": record, "trace": []}, context, NONE_BOUND, runtime)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "one.md").write_text("# One\n\nThe weir was built in 1848.\n")
    ingest([tmp_path / "one.md"], tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths that corpora were opened at, one for each time."""
    paths: list[str] = []

    async def noted(path: str, *rest: Any) -> Any:
        paths.append(path)
        return await open_corpus(path, *rest)

    monkeypatch.setattr(stores, "open_corpus", noted)
    return paths


async def grown(corpus: Path, name: str) -> None:
    """Publish another generation."""
    await asyncio.to_thread((corpus.parent / f"{name}.md").write_text, f"# {name}\n\nThe {name} was built in 1790.\n")
    await asyncio.to_thread(ingest, [corpus.parent / f"{name}.md"], corpus)


async def test_a_step_reads_a_passage_once_and_anew_for_another_state(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = await open_corpus(corpus)
    (found,) = await reader.search("bm25", ["weir"], 5, Scope())
    read: list[Sequence[str]] = []

    async def chunks(self: Passages, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        read.append(ids)
        return await whole(self, ids, scope)

    whole = Passages.chunks
    monkeypatch.setattr(Passages, "chunks", chunks)
    turn = turn_of(Context(corpus=str(corpus)))
    assert [*await turn.chunks(found["ids"])] == found["ids"]
    assert [*await turn.chunks(["gone", *found["ids"]])] == found["ids"]
    assert read == [found["ids"], ["gone"]]
    filtered = turn.with_state({**turn._state, "turn": {**turn._state["turn"], "filters": {"source": "other.md"}}})
    assert await filtered.chunks(found["ids"]) == {}
    assert [*await turn.chunks(found["ids"])] == found["ids"]


async def test_later_steps_do_not_look_again(corpus: Path, looks: list[str]) -> None:
    context = Context(corpus=str(corpus))
    first = await turn_of(context).corpus()
    assert len(looks) == 1
    assert await turn_of(context, first.generation).corpus() is first
    assert len(looks) == 1
    assert await turn_of(context).corpus() is first
    assert len(looks) == 2


async def test_each_turn_has_the_generation_that_it_began_with(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await turn_of(context).corpus()
    await grown(corpus, "mill")
    after = await turn_of(context).corpus()
    assert after.generation > before.generation
    for reader, holds_mill in ((before, False), (after, True)):
        with metered() as said:
            assert await turn_of(context, reader.generation).corpus() is reader
        assert said.failures == []
        (found,) = await reader.search("bm25", ["mill"], 5, Scope())
        assert bool(found["ids"]) == holds_mill


async def test_a_generation_that_is_not_kept_gives_way_to_the_present_one_and_it_is_said_once(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    first = (await turn_of(context).corpus()).generation
    for number in range(GENERATIONS):
        await grown(corpus, f"mill {number}")
        present = await turn_of(context).corpus()
    assert find_reader(str(corpus), first) is None
    with metered() as said:
        turn = turn_of(context, first)
        assert await turn.corpus() is present
        assert await turn.corpus() is present
    assert turn.generation == present.generation
    (reason,) = said.failures
    assert f"generation {first} " in reason
    assert f"generation {present.generation}" in reason


async def test_what_is_hidden_in_the_middle_of_a_turn_is_not_shown_any_more(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await turn_of(context).corpus()
    (found,) = await before.search("bm25", ["weir"], 5, Scope())
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], corpus, access=["board"])
    await turn_of(context).corpus()
    assert await turn_of(context, before.generation).corpus() is before
    assert await before.chunks(found["ids"], Scope()) == {}
    assert (await before.search("bm25", ["weir"], 5, Scope()))[0]["ids"] == []


async def test_another_folder_in_the_place_of_the_corpus_ends_the_turn(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await turn_of(context).corpus()
    corpus.rename(corpus.with_name("former"))
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], corpus)
    assert await turn_of(context, before.generation).corpus() is before
    with pytest.raises(CorpusNotFoundError, match="no longer exists"):
        await before.search("bm25", ["weir"], 5, Scope())
    assert await turn_of(context).corpus() is not before


async def test_corpora_are_told_apart_and_few_are_held_open(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = corpus.with_name("other")
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], other)
    first, second = Context(corpus=str(corpus)), Context(corpus=str(other))
    one, two = await turn_of(first).corpus(), await turn_of(second).corpus()
    assert one.generation == two.generation
    assert (find_reader(str(corpus), one.generation), find_reader(str(other), two.generation)) == (one, two)
    assert one is not two
    kept = ref(one)
    del one
    corpus_handles._open.clear()
    gc.collect()
    assert kept() is not None
    # As many others as are kept, opened since.
    for number in range(stores.CORPORA):
        await asyncio.to_thread(ingest, [corpus.parent / "one.md"], corpus.with_name(f"more-{number}"))
        await open_corpus(str(corpus.with_name(f"more-{number}")))
    corpus_handles._open.clear()
    gc.collect()
    assert kept() is None
    assert find_reader(str(corpus), two.generation) is None


OWN = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({"model": "openai:stub"}, 60),
        ({"model": "openai:stub", "base_url": OWN}, 300),
        ({"model": "qwen2.5:1.5b", "base_url": OWN}, 300),
        ({"model": "ollama:qwen2.5"}, 300),
        ({"model": "auto"}, 300),
        ({"model": "openai:stub", "model_timeout": 20}, 20),
        ({"model": "openai:stub", "base_url": OWN, "model_timeout": 20}, 20),
        ({"model": "auto", "model_timeout": 20}, 20),
    ],
)
async def test_a_server_of_ones_own_may_take_longer_unless_a_number_is_set(
    settings: dict[str, Any], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(*, anew: bool) -> LocalModel:
        return LocalModel("stub", LocalServer("Ollama", 9, "/api/tags"))

    monkeypatch.setattr(local_servers, "find_model", found)
    monkeypatch.setenv("OPENAI_API_KEY", "stub")
    chat = await load_model(Context(**settings))
    assert chat is not None
    assert chat.settings.timeout == seconds

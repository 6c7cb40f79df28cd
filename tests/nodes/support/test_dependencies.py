"""A turn begins with the documents as they are, and its steps go on with the generation that it began with."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support import dependencies as resources
from anabranch.agent.nodes.support.dependencies import corpus_of, model_of
from anabranch.agent.nodes.support.turn_generation import reading_generation
from anabranch.errors import CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.models.local_servers import LocalModel, LocalServer
from anabranch.models.usage import metered
from anabranch.store import corpus_handles, stores
from anabranch.store.protocol import Scope
from anabranch.store.stores import GENERATIONS, open_corpus, opened


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

    monkeypatch.setattr(resources, "open_corpus", noted)
    return paths


async def grown(corpus: Path, name: str) -> None:
    """Publish another generation."""
    await asyncio.to_thread((corpus.parent / f"{name}.md").write_text, f"# {name}\n\nThe {name} was built in 1790.\n")
    await asyncio.to_thread(ingest, [corpus.parent / f"{name}.md"], corpus)


async def test_later_steps_do_not_look_again(corpus: Path, looks: list[str]) -> None:
    context = Context(corpus=str(corpus))
    first = await corpus_of(context)
    assert len(looks) == 1
    with reading_generation(first.generation):
        assert await corpus_of(context) is first
    assert len(looks) == 1
    assert await corpus_of(context) is first
    assert len(looks) == 2


async def test_each_turn_has_the_generation_that_it_began_with(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await corpus_of(context)
    await grown(corpus, "mill")
    after = await corpus_of(context)
    assert after.generation > before.generation
    for reader, holds_mill in ((before, False), (after, True)):
        with metered() as said, reading_generation(reader.generation):
            assert await corpus_of(context) is reader
        assert said.failures == []
        (found,) = await reader.search("bm25", ["mill"], 5, Scope())
        assert bool(found["ids"]) == holds_mill


async def test_a_generation_that_is_not_kept_gives_way_to_the_present_one_and_it_is_said_once(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    first = (await corpus_of(context)).generation
    for number in range(GENERATIONS):
        await grown(corpus, f"mill {number}")
        present = await corpus_of(context)
    assert opened(str(corpus), first) is None
    with metered() as said, reading_generation(first) as turn:
        assert await corpus_of(context) is present
        assert await corpus_of(context) is present
    assert turn.number == present.generation
    (reason,) = said.failures
    assert f"generation {first} " in reason
    assert f"generation {present.generation}" in reason


async def test_what_is_hidden_in_the_middle_of_a_turn_is_not_shown_any_more(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await corpus_of(context)
    (found,) = await before.search("bm25", ["weir"], 5, Scope())
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], corpus, access=["board"])
    await corpus_of(context)
    with reading_generation(before.generation):
        assert await corpus_of(context) is before
    assert await before.chunks(found["ids"], Scope()) == {}
    assert (await before.search("bm25", ["weir"], 5, Scope()))[0]["ids"] == []


async def test_another_folder_in_the_place_of_the_corpus_ends_the_turn(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await corpus_of(context)
    corpus.rename(corpus.with_name("former"))
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], corpus)
    with reading_generation(before.generation):
        assert await corpus_of(context) is before
    with pytest.raises(CorpusNotFoundError, match="not there any more"):
        await before.search("bm25", ["weir"], 5, Scope())
    assert await corpus_of(context) is not before


async def test_corpora_are_told_apart_and_few_are_held_open(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = corpus.with_name("other")
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], other)
    first, second = Context(corpus=str(corpus)), Context(corpus=str(other))
    one, two = await corpus_of(first), await corpus_of(second)
    assert one.generation == two.generation
    assert (opened(str(corpus), one.generation), opened(str(other), two.generation)) == (one, two)
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
    assert opened(str(corpus), two.generation) is None


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

    monkeypatch.setattr(resources, "find_model", found)
    monkeypatch.setenv("OPENAI_API_KEY", "stub")
    chat = await model_of(Context(**settings))
    assert chat is not None
    assert chat.settings.timeout == seconds

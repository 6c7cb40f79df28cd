"""A turn begins with the documents as they are, and its steps do not open them again one after the other."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

from anabranch.errors import CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store import corpus_handles
from anabranch.store.protocol import Scope
from anabranch.store.stores import last_opened, open_corpus
from nodes.settings import Context
from nodes.support import dependencies as resources
from nodes.support.dependencies import corpus_of


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "one.md").write_text("# One\n\nThe weir was built in 1848.\n")
    ingest([tmp_path / "one.md"], tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths that corpora were opened at, one for each time."""
    paths: list[str] = []

    async def noted(path: str, *rest: Any) -> Any:
        paths.append(path)
        return await open_corpus(path, *rest)

    monkeypatch.setattr(resources, "open_corpus", noted)
    return paths


async def test_later_steps_do_not_look_again(corpus: Path, opened: list[str]) -> None:
    context = Context(corpus=str(corpus))
    first = await corpus_of(context, anew=True)
    assert await corpus_of(context) is first
    assert len(opened) == 1
    assert await corpus_of(context, anew=True) is first
    assert len(opened) == 2


async def test_a_turn_begins_with_the_documents_as_they_are(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await corpus_of(context, anew=True)
    more = corpus.parent / "two.md"
    await asyncio.to_thread(more.write_text, "# Two\n\nThe mill was built in 1790.\n")
    await asyncio.to_thread(ingest, [more], corpus)
    assert await corpus_of(context) is before
    after = await corpus_of(context, anew=True)
    assert after.generation > before.generation


async def test_what_is_hidden_in_the_middle_of_a_turn_is_not_shown_any_more(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await corpus_of(context, anew=True)
    (found,) = await before.search("bm25", ["weir"], 5, Scope())
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], corpus, access=["board"])
    assert await corpus_of(context) is before
    assert await before.chunks(found["ids"], Scope()) == {}
    assert (await before.search("bm25", ["weir"], 5, Scope()))[0]["ids"] == []


async def test_another_folder_in_the_place_of_the_corpus_ends_the_turn(corpus: Path) -> None:
    context = Context(corpus=str(corpus))
    before = await corpus_of(context, anew=True)
    corpus.rename(corpus.with_name("former"))
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], corpus)
    with pytest.raises(CorpusNotFoundError, match="not there any more"):
        await before.search("bm25", ["weir"], 5, Scope())
    assert await corpus_of(context, anew=True) is not before


async def test_corpora_are_told_apart_and_none_is_held_open_by_having_been_opened(corpus: Path) -> None:
    other = corpus.with_name("other")
    await asyncio.to_thread(ingest, [corpus.parent / "one.md"], other)
    first, second = Context(corpus=str(corpus)), Context(corpus=str(other))
    one, two = await corpus_of(first, anew=True), await corpus_of(second, anew=True)
    assert (await corpus_of(first), await corpus_of(second)) == (one, two)
    assert one is not two
    kept = ref(one)
    del one
    corpus_handles._open.clear()
    gc.collect()
    assert kept() is None
    assert last_opened(str(corpus)) is None

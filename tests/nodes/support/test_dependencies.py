"""A turn begins with the documents as they are, and its steps do not open them again one after the other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anabranch.ingest.pipeline import ingest
from anabranch.store.corpus_handles import open_corpus
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


async def test_steps_that_follow_at_once_do_not_look_again(
    corpus: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "LOOK", 60.0)
    context = Context(corpus=str(corpus))
    first = await corpus_of(context, anew=True)
    assert await corpus_of(context) is first
    assert len(opened) == 1
    assert await corpus_of(context, anew=True) is first
    assert len(opened) == 2


async def test_later_steps_look_again(corpus: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "LOOK", -1.0)
    context = Context(corpus=str(corpus))
    assert await corpus_of(context, anew=True) is await corpus_of(context)
    assert len(opened) == 2


async def test_a_turn_begins_with_the_documents_as_they_are(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "LOOK", 60.0)
    context = Context(corpus=str(corpus))
    before = await corpus_of(context, anew=True)
    more = corpus.parent / "two.md"
    await asyncio.to_thread(more.write_text, "# Two\n\nThe mill was built in 1790.\n")
    await asyncio.to_thread(ingest, [more], corpus)
    assert await corpus_of(context) is before
    after = await corpus_of(context, anew=True)
    assert after.generation > before.generation


async def test_nothing_is_held_open_by_having_been_looked_at(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "LOOK", 60.0)
    await corpus_of(Context(corpus=str(corpus)), anew=True)
    assert all(not hasattr(seen, "generation") for _, seen in resources._seen.values())

"""Making the indexes anew, with the same embedder or another one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from anabranch.errors import CorpusEmptyError, CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.index.manifest import current
from anabranch.store.maintenance import rebuild, remove, verify
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from tests.store.maintenance.conftest import Change, Sources


def test_a_missing_vector_is_embedded_by_a_rebuild(corpus: Path, change: Change, sources: Sources) -> None:
    before = sources(corpus)
    change(corpus, "DELETE FROM vectors")
    rebuild(corpus)
    assert verify(corpus) == []
    assert sources(corpus) == before


def test_a_rebuild_finds_the_same(corpus: Path) -> None:
    async def found() -> object:
        store = await open_corpus(corpus)
        return [await store.search(arm, ["birds at night", "air"], 10, Scope()) for arm in ("bm25", "dense")]

    before, name = asyncio.run(found()), current(corpus)
    manifest = rebuild(corpus)
    assert manifest.name == current(corpus) != name
    assert asyncio.run(found()) == before


def test_another_embedder_embeds_everything_anew(
    corpus: Path, documents: Path, own_model: Path, sources: Sources
) -> None:
    told: list[tuple[str, int, int]] = []
    manifest = rebuild(corpus, embedder=str(own_model), progress=lambda *step: told.append(step))
    assert manifest.embedder.startswith("onnx:own-model-")
    assert ("passages", 6, 6) in told
    assert verify(corpus) == []
    assert len(sources(corpus)) == 6
    assert ingest([documents], corpus).count("unchanged") == 4
    assert rebuild(corpus, embedder="minilm").embedder.endswith("int8-dynamic")


def test_old_generations_go(corpus: Path) -> None:
    for _ in range(5):
        rebuild(corpus)
    names = sorted(path.name for path in (corpus / "generations").iterdir())
    assert len(names) == 2
    assert names[-1] == current(corpus)


def test_an_empty_corpus_has_no_index(corpus: Path) -> None:
    remove(corpus, ["*"])
    with pytest.raises(CorpusEmptyError):
        rebuild(corpus)


def test_no_corpus_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        rebuild(tmp_path / "absent")

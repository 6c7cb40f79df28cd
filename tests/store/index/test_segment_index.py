"""The index as a whole: what it refuses, and how rows get their names."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from anabranch.errors import EmbedderMismatchError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.index import merge_policy as draft
from anabranch.store.index.manifest import current_name
from anabranch.store.index.segment_index import Index, allows_any
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "d").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "d" / f"{name}.md").write_text(f"Herons fish at weir {name}.\n", encoding="utf-8")
    ingest([tmp_path / "d"], tmp_path / "c")
    return Index(tmp_path / "c", str(current_name(tmp_path / "c")))


def test_vectors_of_another_length_are_refused(index: Index) -> None:
    with pytest.raises(EmbedderMismatchError, match="length 384"):
        index.nearest(np.zeros((1, 8), dtype=np.float32), 5, index.masks(None))


def test_documents_that_may_not_be_seen_have_no_rows(index: Index) -> None:
    assert not allows_any(index.masks(np.zeros(0, dtype=np.int64)))
    assert allows_any(index.masks(None))
    (found,) = index.bm25.search([["heron"]], 10, index.masks(np.array([2])))
    assert index.ids(found.rows) == index.ids(np.array([1]))
    assert asyncio.run(asyncio.to_thread(index.damage)) == []


def test_scores_are_those_of_a_search_over_several_segments_with_dead_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "SMALL", 1)
    folder = tmp_path / "d"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.md").write_text(
            f"Herons fish at weir {number}. {'Eels hide. ' * number}", encoding="utf-8"
        )
    ingest([folder], tmp_path / "c")
    (folder / "3.md").write_text("Herons nest in the alders.", encoding="utf-8")
    (folder / "new.md").write_text("A heron and an otter.", encoding="utf-8")
    ingest([folder], tmp_path / "c")
    assert len(Index(tmp_path / "c", str(current_name(tmp_path / "c"))).segments) > 1
    assert asyncio.run(_compared(tmp_path / "c")) == 13


async def _compared(folder: Path) -> int:
    corpus = await open_corpus(folder)
    (every,) = await corpus.search("dense", ["heron"], 100, Scope())
    for arm in ("bm25", "dense"):
        (ranked,) = await corpus.search(arm, ["heron weir otter eels eels"], 100, Scope())
        (scores,) = (await corpus.scores({arm: ["heron weir otter eels eels"]}, every["ids"], Scope()))[arm]
        assert scores == {**dict.fromkeys(every["ids"], 0.0), **dict(zip(ranked["ids"], ranked["scores"], strict=True))}
    return len(every["ids"])

"""The index as a whole: what it refuses, and how rows get their names."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from anabranch.corpus.ingest import ingest
from anabranch.corpus.segments.generation import current
from anabranch.corpus.segments.index import Index, seen
from anabranch.errors import EmbedderMismatchError


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "d").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "d" / f"{name}.md").write_text(f"Herons fish at weir {name}.\n", encoding="utf-8")
    ingest([tmp_path / "d"], tmp_path / "c")
    return Index(tmp_path / "c", str(current(tmp_path / "c")))


def test_vectors_of_another_length_are_refused(index: Index) -> None:
    with pytest.raises(EmbedderMismatchError, match="length 384"):
        index.nearest(np.zeros((1, 8), dtype=np.float32), 5, index.masks(None))


def test_documents_that_may_not_be_seen_have_no_rows(index: Index) -> None:
    assert not seen(index.masks(np.zeros(0, dtype=np.int64)))
    assert seen(index.masks(None))
    (found,) = index.bm25.search([["heron"]], 10, index.masks(np.array([2])))
    assert index.ids(found.rows) == index.ids(np.array([1]))
    assert asyncio.run(asyncio.to_thread(index.damage)) == []

"""Exact cosine search, masks before ranking, damage noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anabranch.corpus.dense import DenseIndex, build
from anabranch.errors import CorpusDamagedError, EmbedderMismatchError
from anabranch.models.embedding import Vectors


def unit(rows: int, dimension: int = 16, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return unit(500)


@pytest.fixture(scope="module")
def index(vectors: Vectors, tmp_path_factory: pytest.TempPathFactory) -> DenseIndex:
    file = tmp_path_factory.mktemp("dense") / "dense.faiss"
    assert build(file, [vectors[:200], vectors[200:]], 16) == 500
    return DenseIndex.open(file)


@pytest.mark.parametrize("k", [1, 10, 150, 500, 900])
def test_search_is_exact(index: DenseIndex, vectors: Vectors, k: int) -> None:
    queries = unit(5, seed=1)
    cosines = queries @ vectors.T
    for found, expected in zip(index.search(queries, k), cosines, strict=True):
        assert found.rows.tolist() == np.argsort(-expected, kind="stable")[:k].tolist()
        np.testing.assert_allclose(found.scores, np.sort(expected)[::-1][:k], atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.004, 0.1, 0.9])
def test_a_mask_never_starves_a_search(index: DenseIndex, vectors: Vectors, share: float) -> None:
    mask = np.random.default_rng(2).random(500) < share
    queries = unit(3, seed=3)
    for found, cosines in zip(index.search(queries, 20, mask), queries @ vectors.T, strict=True):
        allowed = [row for row in np.argsort(-cosines, kind="stable") if mask[row]]
        assert found.rows.tolist() == allowed[:20]


def test_a_result_does_not_depend_on_its_companions(index: DenseIndex) -> None:
    queries = unit(50, seed=4)
    together = index.search(queries, 30)
    for query, found in zip(queries, together, strict=True):
        (alone,) = index.search(query[None], 30)
        assert alone.rows.tolist() == found.rows.tolist()
        assert alone.scores.tolist() == found.scores.tolist()


def test_equal_vectors_come_in_row_order(tmp_path: Path) -> None:
    build(tmp_path / "d", [np.repeat(unit(1), 6, axis=0)], 16)
    (found,) = DenseIndex.open(tmp_path / "d").search(unit(1), 6)
    assert found.rows.tolist() == [0, 1, 2, 3, 4, 5]


def test_another_dimension_is_refused(index: DenseIndex) -> None:
    with pytest.raises(EmbedderMismatchError, match="length 16"):
        index.search(unit(1, dimension=8), 5)


def test_garbage_is_damage(tmp_path: Path) -> None:
    (tmp_path / "d").write_bytes(b"not an index at all" * 50)
    with pytest.raises(CorpusDamagedError, match="rebuild"):
        DenseIndex.open(tmp_path / "d")


def test_no_rows_no_queries(index: DenseIndex, tmp_path: Path) -> None:
    build(tmp_path / "d", [], 16)
    (found,) = DenseIndex.open(tmp_path / "d").search(unit(1), 5)
    assert len(found.rows) == 0
    assert index.search(np.zeros((0, 16), dtype=np.float32), 5) == []

"""Exact cosines, also behind codes, masks before ranking, damage noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anabranch.errors import CorpusDamagedError
from anabranch.models.embedder import Vectors
from anabranch.store.index import dense
from anabranch.store.index.dense import open_shards, write_shards
from anabranch.store.index.topk import RankedRows, merge_rankings


def unit(rows: int, dimension: int = 16, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return unit(500)


class Shards:
    """All shards of a folder as one."""

    def __init__(self, folder: Path) -> None:
        self.shards = open_shards(folder)

    def search(self, queries: Vectors, k: int, mask: np.ndarray | None = None) -> list[RankedRows]:
        found = []
        for shard in self.shards:
            rows = slice(shard.first, shard.first + shard.rows)
            found.append(shard.search(queries, k, None if mask is None else mask[rows]))
        return [merge_rankings(parts, k) for parts in zip(*found, strict=True)]


@pytest.fixture(scope="module", params=["one shard", "shards", "codes"])
def index(request: pytest.FixtureRequest, vectors: Vectors, tmp_path_factory: pytest.TempPathFactory) -> Shards:
    folder = tmp_path_factory.mktemp("dense")
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "one shard":
            patch.setattr(dense, "SHARD_BYTES", 4 * 16 * 180)
        if request.param == "codes":
            patch.setattr(dense, "QUANTISED", 100)
        write_shards(folder, [vectors[:200], vectors[200:]], 16)
    assert len(list(folder.glob("codes.*"))) == (3 if request.param == "codes" else 0)
    return Shards(folder)


@pytest.mark.parametrize("k", [1, 10, 150, 500, 900])
def test_search_is_exact(index: Shards, vectors: Vectors, k: int) -> None:
    queries = unit(5, seed=1)
    cosines = queries @ vectors.T
    for found, expected in zip(index.search(queries, k), cosines, strict=True):
        assert found.rows.tolist() == np.argsort(-expected, kind="stable")[:k].tolist()
        np.testing.assert_allclose(found.scores, np.sort(expected)[::-1][:k], atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.004, 0.1, 0.9])
def test_a_mask_never_starves_a_search(index: Shards, vectors: Vectors, share: float) -> None:
    mask = np.random.default_rng(2).random(500) < share
    queries = unit(3, seed=3)
    for found, cosines in zip(index.search(queries, 20, mask), queries @ vectors.T, strict=True):
        allowed = [row for row in np.argsort(-cosines, kind="stable") if mask[row]]
        assert found.rows.tolist() == allowed[:20]


def test_a_result_does_not_depend_on_its_companions(index: Shards) -> None:
    queries = unit(50, seed=4)
    together = index.search(queries, 30)
    for query, found in zip(queries, together, strict=True):
        (alone,) = index.search(query[None], 30)
        assert alone.rows.tolist() == found.rows.tolist()
        assert alone.scores.tolist() == found.scores.tolist()


def test_equal_vectors_come_in_row_order(tmp_path: Path) -> None:
    write_shards(tmp_path, [np.repeat(unit(1), 6, axis=0)], 16)
    (found,) = Shards(tmp_path).search(unit(1), 6)
    assert found.rows.tolist() == [0, 1, 2, 3, 4, 5]


def test_equal_vectors_can_have_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "QUANTISED", 5)
    write_shards(tmp_path, [np.repeat(unit(1), 40, axis=0)], 16)
    (found,) = Shards(tmp_path).search(unit(1), 40)
    assert found.rows.tolist() == list(range(40))
    np.testing.assert_allclose(found.scores, 1, atol=1e-6)


def test_garbage_is_damage(tmp_path: Path) -> None:
    (tmp_path / "dense.0.faiss").write_bytes(b"not an index at all" * 50)
    with pytest.raises(CorpusDamagedError, match="rebuild"):
        open_shards(tmp_path)


def test_no_rows_no_queries(index: Shards, tmp_path: Path) -> None:
    write_shards(tmp_path, [], 16)
    assert open_shards(tmp_path) == []
    assert index.shards[0].search(np.zeros((0, 16), dtype=np.float32), 5, None) == []

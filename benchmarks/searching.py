"""How long a search takes, beside the plain way to get the same rows with the same scores."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

from anabranch.models.embedder import Vectors
from anabranch.store.index.bm25 import BM25, NONE_DEAD, Inverted
from anabranch.store.index.dense import open_shards, write_shards
from anabranch.store.index.postings import Postings, write_postings
from anabranch.store.index.statistics import Statistics, histogram_of
from anabranch.store.index.topk import Ranked
from anabranch.text.analyzer import analyser
from anabranch.text.sentences import spans
from benchmarks.report import Table, ms, times
from benchmarks.scale import Scale

K = 50
DIMENSION = 384
COLUMNS = ("search", "leaves", "p50, ms", "p95, ms", "peer", "peer p50, ms", "peer / ours")
Search = Callable[[int], Ranked]
Peer = Callable[[int], np.ndarray]


def measure(scale: Scale, folder: Path) -> Table:
    """Return the table of both retrievers at each size."""
    sentences = list(_sentences(scale.documents))
    rows = [row for leaves in scale.leaves for row in _sized(scale, leaves, sentences, folder / f"index{leaves}")]
    return Table("search", f"One search, the best {K}", COLUMNS, tuple(rows))


def _sized(scale: Scale, leaves: int, sentences: Sequence[str], folder: Path) -> Iterator[tuple[str, ...]]:
    folder.mkdir()
    chance = random.Random(leaves)
    texts = [" ".join(chance.choices(sentences, k=5)) for _ in range(leaves)]
    queries = [" ".join(chance.sample(text.split(), k=min(8, len(text.split())))) for text in texts[: scale.searches]]
    pairs = {"bm25": ("rank_bm25", *_bm25(texts, queries, folder)), "dense": ("numpy", *_dense(leaves, scale, folder))}
    for name, (peer, search, plain) in pairs.items():
        ours, theirs = _timed(scale.searches, search, plain)
        p50, p95, peer50 = np.percentile(ours, 50), np.percentile(ours, 95), np.percentile(theirs, 50)
        yield (name, f"{leaves:,}", ms(float(p50)), ms(float(p95)), peer, ms(float(peer50)), times(float(peer50 / p50)))


def _sentences(documents: Sequence[Path]) -> Iterator[str]:
    for path in documents:
        for page in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            text = page.read_text(encoding="utf-8")
            yield from (" ".join(text[start:end].split()) for start, end in spans(text))


def _bm25(texts: Sequence[str], queries: Sequence[str], folder: Path) -> tuple[Search, Peer]:
    """Return both searches over the same terms; analysing the query is in neither."""
    corpus = [analyser().terms(text) for text in texts]
    terms = [analyser().terms(query) for query in queries]
    write_postings(folder, corpus)
    postings = Postings(folder)
    statistics = Statistics(len(corpus), sum(map(len, corpus)), histogram_of(np.diff(postings.starts)))
    index, okapi = BM25([Inverted(postings, NONE_DEAD, 0)], statistics), BM25Okapi(corpus)
    return lambda n: index.search([terms[n]], K, [None])[0], lambda n: _top(okapi.get_scores(terms[n]))


def _dense(leaves: int, scale: Scale, folder: Path) -> tuple[Search, Peer]:
    vectors, queries = _unit(leaves, seed=1), _unit(scale.searches, seed=2)
    write_shards(folder, [vectors], DIMENSION)
    (shard,) = open_shards(folder)
    return lambda n: shard.search(queries[n : n + 1], K, None)[0], lambda n: _top(vectors @ queries[n])


def _unit(rows: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((rows, DIMENSION), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _top(scores: np.ndarray) -> np.ndarray:
    """Return the best scores, descending."""
    best = np.argpartition(scores, -K)[-K:]
    return np.sort(scores[best])[::-1]


def _timed(count: int, search: Search, plain: Peer) -> tuple[list[float], list[float]]:
    """Return the seconds of each search, ours and the peer's in turn.

    Raises:
        RuntimeError: The two found different scores: then there is nothing to compare.
    """
    ours, theirs = [], []
    for number in range(-1, count):  # the first one only warms up
        began = time.perf_counter()
        found = search(max(number, 0))
        between = time.perf_counter()
        expected = plain(max(number, 0))
        ended = time.perf_counter()
        if not np.allclose(found.scores, expected[: len(found.scores)], atol=1e-5):
            raise RuntimeError(f"the scores of search {number!r} differ: {found.scores!r}, {expected!r}")
        if number >= 0:
            ours.append(between - began)
            theirs.append(ended - between)
    return ours, theirs

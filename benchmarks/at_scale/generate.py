"""Writes a corpus of any size, one document after the other, in memory that does not grow with it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Document
from anabranch.store.records import embedded_text, text_key
from benchmarks.at_scale.drafts import Draft, Writer, leaf_vectors
from benchmarks.at_scale.exact import nearest
from benchmarks.at_scale.material import BUCKETS, NEAREST, SHARES, Material, Passage, limit, matrix, passages_in
from benchmarks.at_scale.pool import Pool

NOISE = 0.5
"""Length of the noise beside a mean of length 1: the cosine of the two is .89."""

ADDED = 5
SAMPLE = 32
"""Passages whose made vector is compared with the one that the embedder gives them."""


def generate(pool: Pool, size: int, folder: Path, seed: int) -> Material:
    """Write a corpus of `size` passages, at most a document more, unless it is there already."""
    home = folder / f"material-{pool.name}-{size}"
    if not (home / "facts.json").is_file():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        _Generator(pool, home, seed).write(size)
    return Material(home)


class Buckets:
    """Gives each document a bucket so that every filter lets its share of the passages pass, at any length."""

    def __init__(self, chance: np.random.Generator) -> None:
        self._chance = chance
        self._passed = dict.fromkeys(SHARES, 0)
        self._all = 0

    def next(self) -> int:
        """Return the bucket of the next document: that of the narrowest filter which has let too few pass."""
        due = [share for share in SHARES if self._passed[share] < share * self._all]
        inside = limit(min(due)) if due else BUCKETS
        outside = max((limit(share) for share in SHARES if limit(share) < inside), default=0)
        return int(self._chance.integers(outside, inside))

    def take(self, bucket: int, passages: int) -> None:
        """Count the passages of a document."""
        self._all += passages
        for share in SHARES:
            self._passed[share] += passages * (bucket < limit(share))


class _Generator:
    def __init__(self, pool: Pool, home: Path, seed: int) -> None:
        self._pool, self._home = pool, home
        self._writer = Writer(pool, seed)
        self._chance = np.random.default_rng(seed)
        self._embedder = load_embedder("minilm")
        self._drafts = self._writer.drafts()

    def write(self, size: int) -> None:
        began = time.perf_counter()
        facts = self._corpus(size)
        facts |= {"made_cosine": self._made_cosine(), "seconds": time.perf_counter() - began}
        self._questions()
        self._nearest()
        self._added()
        (self._home / "facts.json").write_text(json.dumps(facts), "utf-8")

    def _corpus(self, size: int) -> dict[str, Any]:
        buckets, passages, documents, characters = Buckets(self._chance), 0, 0, 0
        with (
            (self._home / "documents.jsonl").open("w", encoding="utf-8") as lines,
            (self._home / "passages.jsonl").open("w", encoding="utf-8") as leaves,
            (self._home / "vectors.f32").open("wb") as vectors,
        ):
            while passages < size:
                draft, bucket = next(self._drafts), buckets.next()
                count, length = self._document(draft, bucket, lines, leaves, vectors)
                buckets.take(bucket, count)
                passages, documents, characters = passages + count, documents + 1, characters + length
        coiner, law = self._writer.coiner, self._writer.law
        return {
            "passages": passages, "documents": documents, "characters": characters, "tokens": coiner.tokens,
            "words": coiner.vocabulary, "sentences": len(self._pool.sentences), "heaps": [law.factor, law.exponent],
        }  # fmt: skip

    def _document(self, draft: Draft, bucket: int, lines: TextIO, leaves: TextIO, vectors: BinaryIO) -> tuple[int, int]:
        lines.write(json.dumps(draft.record(bucket), ensure_ascii=False) + "\n")
        passages, spans, text = self._passages(draft.document("documents.jsonl", bucket), bucket)
        leaves.writelines(json.dumps(passage, ensure_ascii=False) + "\n" for passage in passages)
        vectors.write(leaf_vectors(draft, text, spans, self._pool, self._chance, NOISE).tobytes())
        return len(passages), len(text)

    def _passages(self, document: Document, bucket: int) -> tuple[list[Passage], list[tuple[int, int]], str]:
        """Cut a document as ingesting will, so that each leaf's vector can wait for it."""
        tree = grow(document, self._embedder)
        passages = []
        for leaf in tree.leaves:
            text = embedded_text(document.title, leaf.heading, leaf.text)
            passages.append(
                {
                    "document": document.key, "start": leaf.start, "bucket": bucket, "key": text_key(text),
                    "text": text,
                }
            )  # fmt: skip
        return passages, [(leaf.start, leaf.end) for leaf in tree.leaves], tree.text

    def _made_cosine(self) -> float:
        """Return the mean cosine of made vectors with the embedder's own."""
        made = matrix(self._home / "vectors.f32")
        rows = sorted(self._chance.choice(len(made), min(SAMPLE, len(made)), replace=False).tolist())
        texts = [passage["text"] for passage in _picked(self._home / "passages.jsonl", set(rows))]
        return float(np.mean(np.sum(self._embedder.embed(texts) * made[rows], axis=1)))

    def _questions(self) -> None:
        (self._home / "questions.json").write_text(json.dumps(self._pool.questions), "utf-8")
        self._pool.question_vectors.tofile(self._home / "questions.f32")

    def _nearest(self) -> None:
        vectors = matrix(self._home / "vectors.f32")
        buckets = np.fromiter((each["bucket"] for each in passages_in(self._home)), dtype=np.int64)
        asked = self._pool.question_vectors
        found = {"1": nearest(vectors, asked, None, NEAREST)}
        found |= {str(share): nearest(vectors, asked, buckets < limit(share), NEAREST) for share in SHARES}
        np.savez(self._home / "nearest.npz", **found)

    def _added(self) -> None:
        """Write documents for later; what is searched for is their own text, so the vectors are the embedder's own."""
        rows, listed = [], []
        for number in range(ADDED):
            draft, name, word = next(self._drafts), f"added-{number}.jsonl", f"addendum{number}qzx"
            draft.paragraphs[0] = f"The {word} is described here. {draft.paragraphs[0]}"
            (self._home / name).write_text(json.dumps(draft.record(0), ensure_ascii=False) + "\n", "utf-8")
            passages, _, _ = self._passages(draft.document(name, 0), 0)
            rows.append(self._embedder.embed([passage["text"] for passage in passages]))
            listed.append({"file": name, "word": word, "passages": passages})
        np.concatenate(rows).tofile(self._home / "added.f32")
        (self._home / "added.json").write_text(json.dumps(listed, ensure_ascii=False), "utf-8")


def _picked(file: Path, rows: set[int]) -> Iterator[Passage]:
    with file.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for row, line in enumerate(lines) if row in rows)

"""What every system is given: the same passages, vectors and questions. Peers read it, so numpy is all it needs.

::

    documents.jsonl    what Anabranch takes in
    passages.jsonl     the leaves cut from it, in order: document, start, bucket, key, text
    vectors.f32        one row per passage
    questions.json     questions.f32
    nearest.npz        the exact nearest passages of each question, without a filter and with each one
    added.json         documents that are added later, their passages; added-0.jsonl ...; added.f32
    facts.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

DIMENSION = 384
BUCKETS = 10_000
SHARES = (0.5, 0.01, 0.0001)
"""Filters let documents pass whose bucket is below this share of `BUCKETS`."""

NEAREST = 10
Passage = dict[str, Any]


def limit(share: float) -> int:
    """Return the bucket that a filter's documents stay below."""
    return round(share * BUCKETS)


def matrix(file: Path) -> np.ndarray:
    """Map the vectors in a file."""
    return np.memmap(file, dtype=np.float32, mode="r").reshape(-1, DIMENSION)


def passages_in(folder: Path) -> Iterator[Passage]:
    """Yield each passage, read as it is needed."""
    with (folder / "passages.jsonl").open(encoding="utf-8") as file:
        yield from map(json.loads, file)


class Material:
    """A generated corpus."""

    def __init__(self, folder: Path) -> None:
        """Read the facts; the rest when it is asked for."""
        self.folder = folder
        self.documents = folder / "documents.jsonl"
        self.facts: dict[str, Any] = json.loads((folder / "facts.json").read_text("utf-8"))

    @property
    def size(self) -> int:
        """How many passages there are."""
        return int(self.facts["passages"])

    @property
    def shares(self) -> list[float]:
        """The filters that let at least one passage pass."""
        return [share for share in SHARES if share * self.size >= 1]

    def passages(self) -> Iterator[Passage]:
        """Yield each passage, read as it is needed."""
        return passages_in(self.folder)

    def batches(self, count: int) -> Iterator[tuple[list[Passage], np.ndarray]]:
        """Yield passages with their vectors, `count` at a time."""
        vectors, start, batch = matrix(self.folder / "vectors.f32"), 0, []
        for passage in self.passages():
            batch.append(passage)
            if len(batch) == count:
                yield batch, np.array(vectors[start : start + count])
                start, batch = start + count, []
        if batch:
            yield batch, np.array(vectors[start:])

    @cached_property
    def questions(self) -> list[str]:
        """Sentences that are in no document."""
        found: list[str] = json.loads((self.folder / "questions.json").read_text("utf-8"))
        return found

    @cached_property
    def question_vectors(self) -> dict[str, np.ndarray]:
        """The vector of each question."""
        return dict(zip(self.questions, np.array(matrix(self.folder / "questions.f32")), strict=True))

    @cached_property
    def nearest(self) -> dict[float, np.ndarray]:
        """The exact nearest passages, shape (questions, 10), by share (1: no filter); -1 where there are no more."""
        with np.load(self.folder / "nearest.npz") as found:
            return {float(share): found[share] for share in found.files}

    @cached_property
    def added(self) -> list[tuple[Path, str, list[Passage], np.ndarray]]:
        """Documents to add: file, a word that is nowhere else, passages, vectors."""
        vectors, start, found = np.array(matrix(self.folder / "added.f32")), 0, []
        for each in json.loads((self.folder / "added.json").read_text("utf-8")):
            end = start + len(each["passages"])
            found.append((self.folder / each["file"], each["word"], each["passages"], vectors[start:end]))
            start = end
        return found

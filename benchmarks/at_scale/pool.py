"""The real sentences that corpora are made of, with their real vectors and nearest neighbours."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.models.embedder import Embedder, Vectors
from anabranch.models.embedders import load_embedder
from benchmarks.at_scale.prose import sentences, words

NEIGHBOURS = 32
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Pool:
    """Sentences to write documents with, and others, of 6 to 16 words, to ask with.

    Attributes:
        sentences: Distinct, in no order.
        vectors: Shape (sentences, dimension).
        neighbours: Shape (sentences, up to 32): the sentences nearest to each.
        questions: None of them is among the sentences.
        question_vectors: Shape (questions, dimension).
        embedder: What made the vectors.
    """

    sentences: list[str]
    vectors: Vectors
    neighbours: NDArray[np.int64]
    questions: list[str]
    question_vectors: Vectors
    embedder: str

    @property
    def name(self) -> str:
        """A short name for exactly these sentences and questions with these vectors."""
        return _digest([self.embedder, *self.questions, *self.sentences])


def pool_of(paths: Sequence[Path], folder: Path, *, most: int, questions: int, seed: int) -> Pool:
    """Read the text and embed its sentences, or take their vectors from `folder`, where they are kept."""
    found = sentences(paths, most + questions, seed)
    asked = [sentence for sentence in found if 6 <= len(words(sentence)) <= 16][:questions]
    held_out = set(asked)
    used = [sentence for sentence in found if sentence not in held_out]
    embedder = load_embedder("minilm")
    vectors = _vectors([*asked, *used], folder, embedder)
    of_questions, of_sentences = vectors[: len(asked)], vectors[len(asked) :]
    return Pool(used, of_sentences, _neighbours(of_sentences), asked, of_questions, embedder.name)


def _vectors(texts: Sequence[str], folder: Path, embedder: Embedder) -> Vectors:
    """Embed; the slow part, so it is kept."""
    kept = folder / f"sentences-{_digest([embedder.name, *texts])}.npy"
    if not kept.is_file():
        rows = [embedder.embed(texts[start : start + _BLOCK]) for start in range(0, len(texts), _BLOCK)]
        np.save(kept, np.concatenate(rows))
    return np.asarray(np.load(kept), dtype=np.float32)


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _neighbours(vectors: Vectors) -> NDArray[np.int64]:
    count = min(NEIGHBOURS, len(vectors) - 1)
    found = np.empty((len(vectors), count), dtype=np.int64)
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        own = np.arange(len(cosines))
        cosines[own, start + own] = -2.0
        found[start : start + len(cosines)] = np.argpartition(cosines, -count, axis=1)[:, -count:]
    return found

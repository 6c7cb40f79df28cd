"""Documents written by walking from sentence to related sentence, across the documents that they are from."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anabranch.readers.document import Block, Document
from benchmarks.at_scale.growth import Coiner, fitted
from benchmarks.at_scale.pool import Pool
from benchmarks.at_scale.prose import words

MEAN_SENTENCES = 32
"""Of a document, some eight leaves; lengths have a geometric distribution."""

LONGEST = 400
RELATED, DRIFT = 0.85, 0.1
TITLE_WORDS = 6


@dataclass(frozen=True, slots=True)
class Draft:
    """A document before it has metadata.

    Attributes:
        key: Its id in the JSONL file.
        title: The first words of the sentence that the walk began at.
        paragraphs: As they are written.
        written: The sentences as they stand in the paragraphs, in order, each with its number in the pool.
        topic: The sentence that the walk began at.
    """

    key: str
    title: str
    paragraphs: list[str]
    written: list[tuple[str, int]]
    topic: int

    def document(self, source: str, bucket: int) -> Document:
        """Return what the reader of JSONL makes of `record`."""
        blocks = tuple(Block(paragraph) for paragraph in self.paragraphs)
        return Document(f"{source}#{self.key}", self.title, blocks, {"bucket": bucket}, key=self.key)

    def record(self, bucket: int) -> dict[str, object]:
        """Return the line of the JSONL file."""
        return {"id": self.key, "title": self.title, "bucket": bucket, "text": "\n\n".join(self.paragraphs)}


class Writer:
    """Writes documents without end, the same ones for the same pool and seed."""

    def __init__(self, pool: Pool, seed: int) -> None:
        """Fit the growth of the vocabulary to the pool."""
        self._chance = random.Random(seed)
        self._pool = pool
        self.law = fitted(pool.sentences)
        self.coiner = Coiner(pool.sentences, self.law, self._chance)
        self._lengths = [len(words(sentence)) for sentence in pool.sentences]
        self._used = bytearray(len(pool.sentences))

    def drafts(self) -> Iterator[Draft]:
        """Yield documents."""
        for number in itertools.count():
            topic = self._chance.randrange(len(self._pool.sentences))
            chosen = list(itertools.islice(self._walk(topic), self._length()))
            texts = self._worded(chosen)
            title = " ".join(self._pool.sentences[topic].split()[:TITLE_WORDS])
            yield Draft(f"d{number}", title, self._paragraphs(texts), list(zip(texts, chosen, strict=True)), topic)

    def _length(self) -> int:
        return min(LONGEST, 1 + int(self._chance.expovariate(1 / MEAN_SENTENCES)))

    def _walk(self, topic: int) -> Iterator[int]:
        while True:
            step = self._chance.random()
            near = int(self._chance.choice(self._pool.neighbours[topic]))
            if step < RELATED:
                yield near
            elif step < RELATED + DRIFT:
                topic = near
                yield topic
            else:
                yield self._chance.randrange(len(self._pool.sentences))

    def _worded(self, chosen: list[int]) -> list[str]:
        """Return the sentences, with the new words that are due in place of some of theirs."""
        for number in chosen:
            if not self._used[number]:
                self._used[number] = 1
                self.coiner.read(self._pool.sentences[number])
        texts = [self._pool.sentences[number] for number in chosen]
        for word in self.coiner.due(sum(self._lengths[number] for number in chosen)):
            place = self._chance.randrange(len(texts))
            parts = texts[place].split()
            # Neither the first nor the last: those have capitals and stops, which say where a sentence ends.
            parts[self._chance.randrange(1, max(2, len(parts) - 1))] = word
            texts[place] = " ".join(parts)
        return texts

    def _paragraphs(self, texts: list[str]) -> list[str]:
        paragraphs, start = [], 0
        while start < len(texts):
            end = start + self._chance.randint(3, 7)
            paragraphs.append(" ".join(texts[start:end]))
            start = end
        return paragraphs


def leaf_vectors(
    draft: Draft, text: str, leaves: list[tuple[int, int]], pool: Pool, chance: np.random.Generator, noise: float
) -> np.ndarray:
    """Return a vector per leaf: the mean of its sentences' real vectors by length, its title's among them, plus noise.

    An embedder that pools by the mean makes of a passage roughly what it makes of its sentences.

    Args:
        draft: The document.
        text: The document as it was cut.
        leaves: [start, end) of each leaf in `text`.
        pool: Where the sentences' vectors are.
        chance: Draws the noise.
        noise: Length of the noise, beside a mean of length 1.
    """
    weights = np.zeros((len(leaves), len(draft.written)), dtype=np.float32)
    position = 0
    for place, (sentence, _) in enumerate(draft.written):
        start = text.index(sentence, position)
        position = start + len(sentence)
        for row, (begin, end) in enumerate(leaves):
            weights[row, place] = max(0, min(end, position) - max(begin, start))
    numbers = [number for _, number in draft.written]
    means = _unit(weights @ pool.vectors[numbers] + len(draft.title) * pool.vectors[draft.topic])
    drawn = _unit(chance.standard_normal(means.shape, dtype=np.float32))
    return _unit(means + noise * drawn)


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

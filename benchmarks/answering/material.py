"""The questions, and the vector of every query that anyone will make of them; numpy is all that peers need for it.

::

    material-.../    passages and their vectors, as `benchmarks.at_scale` generates them
    queries.json     each question with the queries that the model server makes of it
    queries.f32      one row per query, question by question
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.at_scale.material import Material, matrix


class Asked:
    """Passages and questions."""

    def __init__(self, material: Path, queries: Path) -> None:
        """Take the folder of the passages, and the one with the queries."""
        self.passages = Material(material)
        self._folder = queries

    @cached_property
    def by_question(self) -> dict[str, list[str]]:
        """Return each question with all of its queries, the question itself first."""
        found: list[list[str]] = json.loads((self._folder / "queries.json").read_text("utf-8"))
        return {queries[0]: queries for queries in found}

    @cached_property
    def vectors(self) -> dict[str, np.ndarray]:
        """Return the vector of each query."""
        texts = [text for queries in self.by_question.values() for text in queries]
        return dict(zip(texts, np.array(matrix(self._folder / "queries.f32")), strict=True))


def write_queries(questions: dict[str, list[str]], vectors: np.ndarray, folder: Path) -> None:
    """Keep the queries of each question with their vectors, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "queries.json").write_text(json.dumps([[text, *more] for text, more in questions.items()]), "utf-8")
    np.asarray(vectors, dtype=np.float32).tofile(folder / "queries.f32")

"""Questions with the passages that answer them together, from folders in BEIR's form that have answers, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch_evaluation.collection import CORPUS, QUERIES, read_collection

COLLECTIONS = ("musique", "hotpotqa")


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question of a collection.

    Attributes:
        id: Its id.
        text: The question.
        spellings: Spellings of its answer.
        gold: Ids of the documents that answer it together.
    """

    id: str
    text: str
    spellings: tuple[str, ...]
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldCollection:
    """A collection: its documents by id, as title and text, and its questions."""

    name: str
    file: Path
    documents: dict[str, tuple[str, str]]
    questions: tuple[GoldQuestion, ...]


def read_gold_passages(folder: Path) -> GoldCollection:
    """Read a folder.

    Raises:
        CollectionError: A file is missing or has bad lines.
    """
    collection = read_collection(folder)
    rows = [json.loads(line) for line in (folder / CORPUS).read_text("utf-8").splitlines()]
    documents = {row.get("_id", row.get("id")): (row.get("title", ""), row["text"]) for row in rows}
    lines = (folder / QUERIES).read_text("utf-8").splitlines()
    by_id = {row.get("_id", row.get("id")): row for row in map(json.loads, lines)}
    questions = tuple(
        GoldQuestion(
            id=key,
            text=text,
            spellings=tuple(by_id[key].get("answers") or [by_id[key].get("answer", "")]),
            gold=tuple(doc for doc, grade in collection.qrels[key].items() if grade > 0),
        )
        for key, text in collection.queries.items()
    )
    return GoldCollection(folder.name, folder / CORPUS, documents, questions)


def evenly(questions: Sequence[GoldQuestion], most: int | None) -> list[GoldQuestion]:
    """Return so many of the questions, spread evenly over the collection."""
    if most is None or most >= len(questions):
        return list(questions)
    return [questions[at * len(questions) // most] for at in range(most)]

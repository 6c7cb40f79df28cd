"""Chooses the questions for a collection: its own, and some that it cannot answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from anabranch_evaluation.answer_quality import QuestionKind
from anabranch_evaluation.collection import QUERIES, QUESTIONS, Collection
from anabranch_evaluation.queries import Gold, read_gold, read_queries
from anabranch_evaluation.score_tables import AnswerTable

SHARE = 0.1
"""Most of a collection's documents that a question may remove, as a share."""

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one collection.

    Attributes:
        without: Keys of the documents that are left out of the search.
    """

    id: str
    text: str
    kind: QuestionKind = "own"
    gold: Gold = field(default_factory=Gold)
    without: tuple[str, ...] = ()

    @property
    def filters(self) -> dict[str, Any] | None:
        """Filters of the search."""
        return {"not": {"key": {"in": list(self.without)}}} if self.without else None


@dataclass(frozen=True, slots=True)
class QuestionPool:
    """The questions of one collection: `own` ones with an answer, and `marked` ones without."""

    own: tuple[Question, ...]
    marked: tuple[Question, ...]
    relevant: Mapping[str, tuple[str, ...]]
    documents: int


def pool_of(collection: Collection, documents: int) -> QuestionPool:
    """Return the questions of a collection that was compared with its documents.

    Raises:
        CollectionError: Its file of questions is invalid.
    """
    path = collection.folder / (QUESTIONS if collection.evidence else QUERIES)
    texts, gold = read_queries(path), read_gold(path)
    own = tuple(Question(key, text, "own", gold[key]) for key, text in collection.queries.items())
    # Questions about missing documents have no answer here either.
    marked = tuple(
        Question(key, text, "marked")
        for key, text in texts.items()
        if key not in collection.queries and (not gold[key].answerable or collection.evidence)
    )
    relevant = {
        key: tuple(sorted(document for document, value in rows.items() if value > 0))
        for key, rows in collection.qrels.items()
        if not collection.evidence
    }
    return QuestionPool(own, marked, relevant, documents)


def choose_questions(name: str, pools: Mapping[str, QuestionPool], table: AnswerTable) -> list[Question]:
    """Return the questions for one collection, the same ones each time."""
    pool = pools[name]
    own = spread(pool.own, table.questions or len(pool.own))
    others = [other for other in pools if table.may_ask(name, other)]
    # Rounded up, so that each other collection asks at least one question.
    share = -(-table.elsewhere // len(others)) if others else 0
    elsewhere = [
        Question(f"{other}/{each.id}", each.text, "elsewhere")
        for other in others
        for each in spread(pools[other].own, share)
    ]
    return [*own, *pool.marked, *elsewhere, *_without_answers(pool, table.removed)]


def _without_answers(pool: QuestionPool, most: int) -> Iterator[Question]:
    able = [each for each in pool.own if 0 < len(pool.relevant.get(each.id, ())) <= SHARE * pool.documents]
    for each in spread(able, most):
        yield Question(each.id, each.text, "removed", without=pool.relevant[each.id])


def spread(items: Sequence[_Item], most: int) -> list[_Item]:
    """Return at most `most` items, spread evenly over all."""
    if len(items) <= most:
        return list(items)
    # Not drawn at random, so that the next run asks the same questions.
    return [items[index * len(items) // most] for index in range(most)]

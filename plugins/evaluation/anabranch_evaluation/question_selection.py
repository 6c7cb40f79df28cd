"""Chooses what a collection is asked: its own questions, and such as it has no answer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from anabranch_evaluation.answer_quality import QuestionKind
from anabranch_evaluation.collection import QUERIES, QUESTIONS, Collection
from anabranch_evaluation.queries import Gold, read_gold, read_queries
from anabranch_evaluation.score_tables import AnswerTable

SHARE = 0.1
"""Of a collection's documents: where more than this would be removed, what is left is no collection of its kind."""

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
        """What narrows the search."""
        return {"not": {"key": {"in": list(self.without)}}} if self.without else None


@dataclass(frozen=True, slots=True)
class QuestionPool:
    """The questions of one collection: `own` ones that its documents answer, `marked` ones that they do not."""

    own: tuple[Question, ...]
    marked: tuple[Question, ...]
    relevant: Mapping[str, tuple[str, ...]]
    documents: int


def pool_of(collection: Collection, documents: int) -> QuestionPool:
    """Return the questions of a collection that was compared with its documents.

    Raises:
        CollectionError: Its file of questions cannot be used.
    """
    path = collection.folder / (QUESTIONS if collection.evidence else QUERIES)
    texts, gold = read_queries(path), read_gold(path)
    own = tuple(Question(key, text, "own", gold[key]) for key, text in collection.queries.items())
    # Beside those that say so: questions about documents that are not here have no answer here either.
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


def asked_of(name: str, pools: Mapping[str, QuestionPool], table: AnswerTable) -> list[Question]:
    """Return what one collection is asked: the same questions each time."""
    pool = pools[name]
    own = spread(pool.own, table.questions or len(pool.own))
    others = [other for other in pools if table.may_ask(name, other)]
    # Rounded up: one question too many rather than a collection that is not asked at all.
    share = -(-table.elsewhere // len(others)) if others else 0
    elsewhere = [
        Question(f"{other}/{each.id}", each.text, "elsewhere")
        for other in others
        for each in spread(pools[other].own, share)
    ]
    return [*own, *pool.marked, *elsewhere, *_removed(pool, table.removed)]


def _removed(pool: QuestionPool, most: int) -> Iterator[Question]:
    able = [each for each in pool.own if 0 < len(pool.relevant.get(each.id, ())) <= SHARE * pool.documents]
    for each in spread(able, most):
        yield Question(each.id, each.text, "removed", without=pool.relevant[each.id])


def spread(items: Sequence[_Item], most: int) -> list[_Item]:
    """Return at most so many items, spread evenly over all."""
    if len(items) <= most:
        return list(items)
    # Spread and not drawn: the next run asks the same, and no part of a book is left out.
    return [items[index * len(items) // most] for index in range(most)]

"""Stores people's feedback on answers with the question and the sources, so that it can become an evaluation set."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal
from uuid import uuid4

from sqlalchemy import JSON, Column, Float, Index, String, Table, Text, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch_server.database import now, tables

FeedbackVerdict = Literal["right", "wrong", "better_source"]

opinions = Table(
    "anabranch_feedback",
    tables,
    Column("feedback_id", String(100), primary_key=True),
    Column("owner", String(300), nullable=False),
    Column("created_at", Float, nullable=False),
    # Not a foreign key: feedback outlives the conversation.
    Column("thread_id", String(100), nullable=False),
    Column("run_id", String(100), nullable=False),
    Column("verdict", String(20), nullable=False),
    Column("comment", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("shown", JSON, nullable=False),
    Column("better", JSON),
    Index("anabranch_feedback_of", "owner", "created_at"),
)


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a document: the passage, the id of the document as `anabranch eval` knows it, and the words."""

    chunk_id: str
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """One person's feedback on an answer.

    Attributes:
        owner: The person.
        thread_id: The conversation.
        run_id: The run that answered.
        verdict: Their verdict.
        comment: Their comment; may be empty.
        question: The standalone question, which can be asked without the conversation.
        answer: The text of the answer.
        shown: The quotes that the answer cited.
        better: The passage that they named as the better source.
    """

    owner: str
    thread_id: str
    run_id: str
    verdict: FeedbackVerdict
    comment: str
    question: str
    answer: str
    shown: Sequence[Words]
    better: Words | None

    def as_question(self) -> dict[str, Any]:
        """Return a line of `queries.jsonl`; its `references` are the words that answer the question."""
        held = [self.better] if self.better is not None else self.shown if self.verdict == "right" else []
        return {
            "_id": self.run_id,
            "text": self.question,
            "references": [{"content": each.text, "corpus_id": each.document} for each in held],
            "feedback": {"verdict": self.verdict, "comment": self.comment, "answer": self.answer},
        }


class FeedbackBook:
    """Everybody's feedback; the last one of a person on a run counts."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take the database."""
        self._engine = engine

    async def add(self, opinion: Opinion) -> None:
        """Store an opinion."""
        row = {"feedback_id": str(uuid4()), "created_at": now(), **asdict(opinion)}
        async with self._engine.begin() as connection:
            await connection.execute(insert(opinions).values(**row))

    async def all(self, tenant: str | None) -> AsyncIterator[Opinion]:
        """Yield the last opinion of each person on each run, the oldest first.

        Args:
            tenant: Only people of this organisation; an owner's name begins with it.
        """
        query = select(opinions).order_by(opinions.c.created_at)
        last: dict[tuple[str, str], Opinion] = {}
        async with self._engine.connect() as connection:
            async for row in await connection.stream(query):
                if tenant is None or row.owner.startswith(f"{tenant}/"):
                    last[row.owner, row.run_id] = _opinion(row._mapping)
        for opinion in last.values():
            yield opinion


def _opinion(row: Mapping[Any, Any]) -> Opinion:
    return Opinion(
        owner=row["owner"],
        thread_id=row["thread_id"],
        run_id=row["run_id"],
        verdict=row["verdict"],
        comment=row["comment"],
        question=row["question"],
        answer=row["answer"],
        shown=[Words(**each) for each in row["shown"]],
        better=Words(**row["better"]) if row["better"] is not None else None,
    )

"""A reply sent through the whole graph, and whether what a reader is then shown is as it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.language_models.fake_chat_models import FakeListChatModel

from anabranch import answer, ingest
from anabranch.errors import SettingsError
from evals.replies.reply_set import KINDS, ScriptedQuestion, documents

TRUE_KINDS = ("right", "longer")
FALSE_KINDS = ("wrong", "invented")

Answering = Callable[[str, str], Mapping[str, Any]]
"""Answers a question, with a model that gives the reply; returns what `anabranch.answer` does."""


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """What came of a reply.

    Attributes:
        row: Its question.
        split: That of the question.
        kind: One of `KINDS`.
        abstained: Whether the answer is an abstention.
        claims: Statements that the check found in the reply.
        held: Those of them that it holds to be in the passages.
        unsupported: The others, as they are marked.
        cited: What a reader is shown as evidence: claim and quote.
    """

    row: ScriptedQuestion
    split: str
    kind: str
    abstained: bool
    claims: int
    held: int
    unsupported: tuple[str, ...]
    cited: tuple[tuple[str, str], ...]

    @property
    def as_wanted(self) -> bool:
        """Whether a true reply was accepted, a false one refused, or a refusal shown as an abstention."""
        if self.kind in TRUE_KINDS:
            return not self.abstained and self.claims > 0 and not self.unsupported
        return self.abstained or (self.kind in FALSE_KINDS and not self.cited)


def judged(row: ScriptedQuestion, split: str, kind: str, result: Mapping[str, Any]) -> JudgedReply:
    """Return what a result of `anabranch.answer` says of the reply it was made with."""
    figures = result["verification"]  # empty where the graph abstained without reading a reply
    return JudgedReply(
        row=row,
        split=split,
        kind=kind,
        abstained=result["abstained"],
        claims=figures.get("claims", 0),
        held=figures.get("quoted", 0) + figures.get("supported", 0),
        unsupported=tuple(result["unsupported"]),
        cited=tuple((each["claim"], each["quote"]) for each in result["citations"]),
    )


def judged_all(rows: Iterable[ScriptedQuestion], split: str, answering: Answering) -> list[JudgedReply]:
    """Send each reply to each question through the graph, in the order of `KINDS`."""
    return [
        judged(row, split, kind, answering(row.question, row.replies[kind]))
        for row in rows
        for kind in KINDS
        if kind in row.replies
    ]


def through_the_graph(rows: Iterable[ScriptedQuestion], split: str) -> list[JudgedReply]:
    """Take in the documents of a split, and judge every reply.

    Raises:
        SettingsError: A document could not be read.
    """
    with TemporaryDirectory(prefix="anabranch-replies-") as folder:
        corpus = Path(folder, "corpus")
        if unread := [row.source for row in ingest(documents(split), corpus).rows if row.status != "added"]:
            msg = f"Of the documents of {split!r}, {unread[0]!r} was not taken in."
            raise SettingsError(msg, hint="Every reply is about one of them.")

        def answering(question: str, reply: str) -> Mapping[str, Any]:
            return answer(question, corpus=corpus, model=FakeListChatModel(responses=[reply]), strategy="none")

        return judged_all(rows, split, answering)

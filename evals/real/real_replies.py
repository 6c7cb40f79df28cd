"""The questions with the passages that the models were shown, and what the models replied."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import SettingsError
from evals.synthesis.packs import Passage

FOLDER = Path(__file__).parent
LABELS = ("right", "wrong", "beside", "refusal")
KINDS = ("answerable", "unanswerable")


@dataclass(frozen=True, slots=True)
class RealQuestion:
    """A question, and the passages that every model was shown.

    Attributes:
        id: Of the question.
        language: ISO 639-1.
        document: The file that it is about.
        kind: `answerable` where the passages tell the answer, else `unanswerable`.
        question: As it was asked.
        says: What the document says of it; empty where it says nothing.
        passages: What the program's own search packed.
    """

    id: str
    language: str
    document: str
    kind: str
    question: str
    says: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class RealReply:
    """What a model replied.

    Attributes:
        question: What it was asked.
        model: Which one.
        reply: Its words.
        label: `right`, `wrong`, `beside` (true or not, it is no answer to the question), or `refusal`.
        why: What is wrong with it, where that is not plain.
    """

    question: RealQuestion
    model: str
    reply: str
    label: str
    why: str = ""

    @property
    def kind(self) -> str:
        """The row that it is counted in: its label, or that it answers what nothing in the passages answers."""
        invented = self.question.kind == "unanswerable" and self.label in ("wrong", "beside")
        return "unanswerable" if invented else self.label


def read_replies(folder: Path = FOLDER) -> list[RealReply]:
    """Read both files of a folder.

    Raises:
        SettingsError: A line is no question or no reply, or its label is none.
    """
    questions = {row["id"]: _question(row) for row in _lines(folder / "questions.jsonl")}
    return [_reply(row, questions) for row in _lines(folder / "replies.jsonl")]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _question(row: dict[str, Any]) -> RealQuestion:
    question = RealQuestion(**{**row, "passages": tuple(Passage(**each) for each in row["passages"])})
    if question.kind not in KINDS:
        raise SettingsError(f"{question.id}: {question.kind!r} is no kind.", hint=f"Kinds are {', '.join(KINDS)}.")
    return question


def _reply(row: dict[str, Any], questions: dict[str, RealQuestion]) -> RealReply:
    name = row.pop("id")
    if name not in questions or row.get("label") not in LABELS:
        msg = f"A reply to {name!r} has the label {row.get('label')!r}."
        raise SettingsError(msg, hint=f"Labels are {', '.join(LABELS)}; questions are in questions.jsonl.")
    return RealReply(question=questions[name], **row)

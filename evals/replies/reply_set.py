"""Questions with scripted replies, as they stand in `dev` and in `test` beside the documents they are about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import SettingsError

FOLDER = Path(__file__).parent
SPLITS = ("dev", "test")
ANSWERABLE = ("right", "longer", "wrong")
UNANSWERABLE = ("refusal", "invented", "refusal_and_aside")
KINDS = ("right", "longer", "wrong", "invented", "refusal", "refusal_and_aside")


@dataclass(frozen=True, slots=True)
class ScriptedQuestion:
    """A question, and what a model is made to reply to it.

    Attributes:
        id: Of the question, within its split.
        language: ISO 639-1, of the question and of its document.
        document: The name of the file that the question is about.
        question: As it is asked.
        says: What the document says of it, `/` between places; empty where it says nothing.
        wrong: What is wrong with the reply that is wrong or invented.
        replies: By kind: those of `ANSWERABLE`, or those of `UNANSWERABLE`.
    """

    id: str
    language: str
    document: str
    question: str
    says: str
    wrong: str
    replies: Mapping[str, str]


def documents(split: str) -> Path:
    """Return the folder with the documents of a split."""
    return FOLDER / split / "documents"


def read_questions(file: Path) -> list[ScriptedQuestion]:
    """Read questions with replies, one JSON object a line, with the fields of `ScriptedQuestion`.

    Raises:
        SettingsError: A line is no such question, or its replies are of other kinds.
    """
    return [_question(number, line, file) for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)]


def _question(number: int, line: str, file: Path) -> ScriptedQuestion:
    try:
        record: dict[str, Any] = json.loads(line)
        found = ScriptedQuestion(**record)
    except (ValueError, TypeError) as error:
        msg = f"{file.name}, line {number}: {type(error).__name__}: {error}"
        raise SettingsError(msg, hint="Its fields are those of ScriptedQuestion.") from error
    if set(found.replies) not in (set(ANSWERABLE), set(UNANSWERABLE)):
        msg = f"{file.name}: the replies to {found.id!r} are {', '.join(found.replies)}."
        raise SettingsError(msg, hint=f"Write {', '.join(ANSWERABLE)}; or {', '.join(UNANSWERABLE)}.")
    return found

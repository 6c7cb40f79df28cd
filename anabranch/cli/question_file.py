"""JSONL files of questions: every bad line is named before any work starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import QuestionError
from anabranch.text.jsonl_rows import read_rows, text_of

SHAPE = 'Write one object per line: {"id": "q1", "question": "..."}.'


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One line: an id, as it was written (text or number), and the question."""

    id: str | int
    question: str

    @property
    def key(self) -> str:
        """The id as text, by which lines are told apart."""
        return str(self.id)


def read_questions(path: Path) -> list[QuestionLine]:
    """Read lines with `id` and `question` (or `text`); other keys are left alone, empty lines skipped.

    Raises:
        QuestionError: The file cannot be read, is empty, or has bad lines, named by their numbers.
    """
    asked = read_rows(
        path,
        # As it was written: who joins answers to questions by id must find 7 again, and not "7".
        lambda row: QuestionLine(row["_id"] if "_id" in row else row["id"], text_of(row)),
        hint=SHAPE,
        refused=QuestionError,
    )
    if not asked:
        raise QuestionError(f"{path} holds no question.", hint=SHAPE)
    return list(asked.values())

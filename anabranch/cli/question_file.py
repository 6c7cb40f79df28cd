"""Read JSONL files of questions; bad lines are reported before any work starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import QuestionError
from anabranch.text.jsonl_rows import read_rows, text_of

SHAPE = 'Write one object per line: {"id": "q1", "question": "..."}.'


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One line: the id as in the file (text or number), and the question."""

    id: str | int
    question: str

    @property
    def key(self) -> str:
        """The id as text, which must be unique."""
        return str(self.id)


def read_questions(path: Path) -> list[QuestionLine]:
    """Read lines with `id` and `question` (or `text`); other keys and empty lines are ignored.

    Raises:
        QuestionError: The file cannot be read, is empty, or has bad lines; the error names their numbers.
    """
    asked = read_rows(
        path,
        # Unchanged, because answers are joined to questions by id: 7 must not become "7".
        lambda row: QuestionLine(row["_id"] if "_id" in row else row["id"], text_of(row)),
        hint=SHAPE,
        refused=QuestionError,
    )
    if not asked:
        raise QuestionError(f"{path} holds no question.", hint=SHAPE)
    return list(asked.values())

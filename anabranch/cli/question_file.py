"""JSONL files of questions: every bad line is named before any work starts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import QuestionError
from anabranch.evaluation.queries import numbered

MAX_LISTED = 5


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
    asked: list[QuestionLine] = []
    first_line: dict[str, int] = {}
    problems: list[str] = []
    for number, line in numbered(path, refused=QuestionError, hint="Give a UTF-8 file with one JSON object per line."):
        parsed = _parsed(line)
        if isinstance(parsed, str):
            problems.append(f"line {number}: {parsed}")
        elif parsed.key in first_line:
            problems.append(f"line {number}: the id {parsed.id!r} is that of line {first_line[parsed.key]}")
        else:
            first_line[parsed.key] = number
            asked.append(parsed)
    if problems:
        more = f" and {len(problems) - MAX_LISTED} more" if len(problems) > MAX_LISTED else ""
        msg = f"{path} cannot be used: {'; '.join(problems[:MAX_LISTED])}{more}."
        raise QuestionError(msg, hint='Each line is an object like {"id": "q1", "question": "..."}.')
    if not asked:
        msg = f"{path} holds no question."
        raise QuestionError(msg, hint='Write one object per line: {"id": "q1", "question": "..."}.')
    return asked


def _parsed(line: str) -> QuestionLine | str:
    """Return the question of a line, or what is wrong with it."""
    try:
        row = json.loads(line)
    except ValueError as error:
        return f"not JSON ({error})"
    if not isinstance(row, dict):
        return "not a JSON object"
    identity, question = row.get("id"), _question_in(row)
    if isinstance(identity, bool) or not isinstance(identity, str | int) or not str(identity).strip():
        return "no 'id'"
    if question is None:
        return "no 'question' or 'text'"
    return QuestionLine(identity, question)


def _question_in(row: dict[str, Any]) -> str | None:
    given = row.get("question", row.get("text"))
    return given if isinstance(given, str) and given.strip() else None

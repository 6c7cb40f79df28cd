"""Questions with their expected answers, and which of them the documents at hand can answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        id: Of the question.
        text: As it is asked.
        answer: What is expected, spellings in brackets; empty where the documents hold none.
        evidence: A regular expression that the passages, and so a verbatim answer, match.
        kind: `answerable`, `unanswerable` (on a subject of the documents or on none), or `absent` (its document is not
            among those that were taken in).
    """

    id: str
    text: str
    answer: str
    evidence: str
    kind: str

    @property
    def answerable(self) -> bool:
        """Whether an answer is expected."""
        return self.kind == "answerable"


def read_questions(file: Path, documents: Iterable[Path]) -> list[Question]:
    """Read questions, one JSON object a line: id, doc, text, answer, evidence_regex, unanswerable.

    Args:
        file: The questions.
        documents: What is taken in; a question's `doc` is the beginning of the name of its document.

    Raises:
        SettingsError: A line is no such question.
    """
    names = [document.name for document in documents]
    questions = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            questions.append(_question(json.loads(line), names))
        except (ValueError, KeyError, TypeError, AttributeError, re.error) as error:
            msg = f"{file}, line {number}: {type(error).__name__}: {error}"
            raise SettingsError(
                msg, hint='Write {"id", "doc", "text", "answer", "evidence_regex"} in each line.'
            ) from error
    return questions


def _question(record: dict[str, str], names: Sequence[str]) -> Question:
    kind = "unanswerable"
    if not record.get("unanswerable"):
        kind = "answerable" if any(name.startswith(record["doc"]) for name in names) else "absent"
    evidence = record.get("evidence_regex") or ""
    re.compile(evidence)
    return Question(record["id"], record["text"], record.get("answer") or "", evidence, kind)

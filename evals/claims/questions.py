"""Questions with their expected answers, and which of them the documents at hand can answer."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import SettingsError

_NUMBER = re.compile(r"(?<=\d),(?=\d{3})")
_NOT_WORD = re.compile(r"[^\w.]+|\.(?!\d)")
_FILLERS = frozenset({"a", "an", "the", "about", "approximately"})


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


def sample(questions: Sequence[Question], answerable: int, others: int) -> list[Question]:
    """Return the first so many that can be answered and that cannot, both kinds of the latter in turn, mixed evenly."""
    by_kind: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_kind[question.kind].append(question)
    longest = max(len(by_kind["unanswerable"]), len(by_kind["absent"]))
    turns = [
        each[place : place + 1] for place in range(longest) for each in (by_kind["unanswerable"], by_kind["absent"])
    ]
    chosen = [by_kind["answerable"][:answerable], [question for turn in turns for question in turn][:others]]
    # A run that is stopped has asked some of each.
    places = {q.id: (row + 0.5) / len(group) for group in chosen for row, q in enumerate(group)}
    return sorted((q for group in chosen for q in group), key=lambda q: places[q.id])


def contains(answer: str, question: Question) -> bool:
    """Say whether an answer holds what is expected: its words, one of its spellings, or the words of the evidence."""
    if question.evidence and re.search(question.evidence, answer):
        return True
    said = f" {_normalised(answer)} "
    return any(f" {spelling} " in said for spelling in _spellings(question.answer))


def _spellings(expected: str) -> list[str]:
    """Return the expected answer without its brackets, what stands in them, and what stands before a comma."""
    outside = re.sub(r"\([^)]*\)", " ", expected)
    found = [outside, *re.findall(r"\(([^)]*)\)", expected), re.split(r",\s", outside)[0]]
    return [spelling for each in found if (spelling := _normalised(each))]


def _normalised(text: str) -> str:
    words = _NOT_WORD.sub(" ", _NUMBER.sub("", text.casefold())).split()
    return " ".join(word for word in words if word not in _FILLERS)

"""What is known of a question's answer: accepted strings, a pattern of its evidence, or the sentences that hold it.

Text is compared as SQuAD does (Rajpurkar et al. 2016): case, punctuation and English articles do not count.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.evaluation.query_set import numbered, unusable

MOST_WORDS = 12
"""A longer answer is a text of its own: no other text contains it word for word."""

_UNSAID = frozenset({"yes", "no", "noanswer"})
"""Answers that no document says in so many words."""

_ARTICLES = frozenset({"a", "an", "the"})
_WORD = re.compile(r"\w+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Gold:
    """What an answer to one question is held against.

    Attributes:
        answers: Accepted short answers; one of them has to be in the text.
        pattern: Matches the words of a document that answer.
        references: The sentences of the documents that answer, whole.
        document: What the name of the file with the evidence begins with; empty where that is not known.
        answerable: False where the documents are known not to hold the answer.
    """

    answers: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    references: tuple[str, ...] = ()
    document: str = ""
    answerable: bool = True

    @property
    def is_comparable(self) -> bool:
        """Whether a text can be held against it."""
        return bool(self.answers or self.pattern or self.references)


def read_gold(path: Path) -> dict[str, Gold]:
    """Read what the lines of `queries.jsonl` or `questions.jsonl` say of the answers.

    Known keys are `answers`, `answer`, `evidence_regex`, `references` (objects with `content`, or strings), `doc` and
    `unanswerable`; a line may have none of them.

    Raises:
        CollectionError: The file cannot be read, or has bad lines, named by their numbers.
    """
    found: dict[str, Gold] = {}
    problems: list[str] = []
    for number, line in numbered(path):
        try:
            row = json.loads(line)
            found[str(row.get("_id", row.get("id"))).strip()] = gold_of(row)
        except (ValueError, AttributeError, RecursionError, re.error) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise unusable(path, problems, hint='Each line is an object like {"_id": "q1", "text": "...", "answer": "..."}')
    return found


def gold_of(row: Mapping[str, Any]) -> Gold:
    """Return what one line says.

    Raises:
        ValueError: A value is of the wrong kind.
        re.error: The pattern is none.
    """
    regex = row.get("evidence_regex") or ""
    if not isinstance(regex, str):
        raise ValueError(f"'evidence_regex' is {type(regex).__name__}, not text")  # noqa: TRY004  # told with the others
    answers = [text for text in _texts(row, "answers") + _texts(row, "answer") if _is_short(text)]
    return Gold(
        answers=tuple(dict.fromkeys(answers)),
        pattern=re.compile(regex, re.IGNORECASE | re.DOTALL) if regex else None,
        references=tuple(dict.fromkeys(_texts(row, "references"))),
        document=str(row.get("doc") or ""),
        answerable=not row.get("unanswerable", False),
    )


def _texts(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name) or []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise ValueError(f"{name!r} is {type(value).__name__}, not text or a list")  # noqa: TRY004  # told with the others
    texts = [item.get("content", "") if isinstance(item, dict) else item for item in listed]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name!r} holds something that is not text")
    return [text for text in texts if text.strip()]


def _is_short(text: str) -> bool:
    words = _words(text)
    return 0 < len(words) <= MOST_WORDS and not _UNSAID.issuperset(words)


def contains(text: str, gold: Gold) -> bool | None:
    """Tell whether a text holds the answer; None where no short answer and no pattern is known.

    Sentences are compared by `overlap`.
    """
    if not gold.answers and gold.pattern is None:
        return None
    if gold.pattern is not None and gold.pattern.search(text):
        return True
    spoken = f" {' '.join(_words(text))} "
    return any(f" {' '.join(_words(answer))} " in spoken for answer in gold.answers)


@dataclass(frozen=True, slots=True)
class Overlap:
    """The words that a text and the reference sentences share: `recall` of theirs, `precision` of its own."""

    recall: float
    precision: float


def overlap(text: str, references: Sequence[str]) -> Overlap:
    """Return the shared words of a text and the reference sentences, each word counted as often as both have it."""
    said = Counter(_words(text))
    wanted = Counter(word for reference in references for word in _words(reference))
    shared = (said & wanted).total()
    return Overlap(shared / wanted.total() if wanted else 0.0, shared / said.total() if said else 0.0)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in _WORD.findall(plain) if word not in _ARTICLES]

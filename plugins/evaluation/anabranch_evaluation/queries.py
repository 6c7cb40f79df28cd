"""The queries of a collection and their known answers, from a JSONL file with an object a line.

A line may name its evidence (`references`, in the form of Chroma's chunking evaluation), accepted answers, or a regular
expression of the words that answer. Every bad line is reported before any work starts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import CollectionError
from anabranch.text.jsonl_rows import read_rows, text_of
from anabranch.text.normalization import clean

# Longer answers are not searched for: no text contains them word for word.
MOST_WORDS = 12

# Answers that do not occur in documents word for word.
_UNSAID = frozenset({"yes", "no", "noanswer"})

_ARTICLES = frozenset({"a", "an", "the"})
_WORD = re.compile(r"\w+(?:[.,]\d+)*")


def read_queries(path: Path) -> dict[str, str]:
    """Read lines with `_id` (or `id`) and `text` (or `question`); other keys and empty lines are ignored.

    Raises:
        CollectionError: The file cannot be read, holds no query, or has bad lines, named by their numbers.
    """
    hint = 'Write one object per line: {"_id": "q1", "text": "..."}.'
    queries = read_rows(path, text_of, hint=hint)
    if not queries:
        raise CollectionError(f"{path} holds no query.", hint=hint)
    return queries


def read_named_documents(path: Path) -> dict[str, set[str]]:
    """Return the documents that the `references` of each query name, by query id; a query may have none.

    The form is that of Chroma's chunking evaluation: `corpus_id` stands on a reference, or on the line for all of them.

    Raises:
        CollectionError: The file cannot be read or has bad lines, named by their numbers.
    """
    hint = 'A line with evidence is an object like {"_id": "q1", "text": "...", "corpus_id": "d1", "references": [{}]}.'
    named = read_rows(path, lambda row: {document_of(item, row) for item in references_in(row)}, hint=hint)
    return {key: names for key, names in named.items() if names}


def references_in(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the `references` of a line.

    Raises:
        ValueError: It is not a list of objects.
    """
    listed = row.get("references") or []
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise ValueError("'references' is not a list of objects")
    return listed


def document_of(reference: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return the id of the document that a reference is about.

    Raises:
        ValueError: Neither the reference nor its line names one.
    """
    document = reference.get("corpus_id", row.get("corpus_id"))
    if isinstance(document, bool) or not isinstance(document, str | int) or not str(document).strip():
        raise ValueError("a reference names no document: 'corpus_id' is missing")
    return clean(str(document)).strip()


@dataclass(frozen=True, slots=True)
class Gold:
    """The known answer to a question.

    Attributes:
        answers: Accepted short answers; one of them has to be in the text.
        pattern: Matches the words of a document that answer.
        references: Whole sentences of the documents that answer.
        document: Beginning of the name of the file with the evidence; empty if unknown.
        answerable: False where the documents are known not to hold the answer.
        reference: An answer of any length for a judge; empty if unknown.
    """

    answers: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    references: tuple[str, ...] = ()
    document: str = ""
    answerable: bool = True
    reference: str = ""

    @property
    def is_comparable(self) -> bool:
        """Whether a text can be compared with it."""
        return bool(self.answers or self.pattern or self.references)


def read_gold(path: Path) -> dict[str, Gold]:
    """Read the known answers in the lines of `queries.jsonl` or `questions.jsonl`.

    Known keys are `answers`, `answer`, `evidence_regex`, `references` (objects with `content`, or strings), `doc` and
    `unanswerable`; a line may have none of them.

    Raises:
        CollectionError: The file cannot be read, or has bad lines, named by their numbers.
    """
    return read_rows(path, gold_of, hint='Each line is an object like {"_id": "q1", "text": "...", "answer": "..."}')


def gold_of(row: Mapping[str, Any]) -> Gold:
    """Return the known answer in one line.

    Raises:
        ValueError: A value is of the wrong kind.
        re.error: The pattern is invalid.
    """
    # Null and "" mean unknown, because some benchmarks write every key on every line.
    regex = row.get("evidence_regex") or ""
    if not isinstance(regex, str):
        raise ValueError(f"'evidence_regex' is {type(regex).__name__}, not text")  # noqa: TRY004  # reported with the others
    # "Yes" and whole paragraphs cannot be found word for word in a text.
    answers = dict.fromkeys(_texts(row, "answers") + _texts(row, "answer"))
    references = tuple(dict.fromkeys(_texts(row, "references")))
    return Gold(
        answers=tuple(text for text in answers if _is_short(text)),
        # A match may span lines, because readers break lines differently.
        pattern=re.compile(regex, re.IGNORECASE | re.DOTALL) if regex else None,
        references=references,
        document=str(row.get("doc") or ""),
        answerable=not row.get("unanswerable", False),
        reference="\n".join(answers or references),
    )


def _texts(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name) or []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise ValueError(f"{name!r} is {type(value).__name__}, not text or a list")  # noqa: TRY004  # reported with the others
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
    # The pattern matches the document's words, which an answer may quote.
    if gold.pattern is not None and gold.pattern.search(text):
        return True
    # With spaces around, so that 19 is not found in 1954.
    spoken = f" {' '.join(_words(text))} "
    return any(f" {' '.join(_words(answer))} " in spoken for answer in gold.answers)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Shared words of a text and the reference sentences: `recall` is their share, `precision` the text's."""

    recall: float
    precision: float


def overlap(text: str, references: Sequence[str]) -> Overlap:
    """Return the overlap of a text and the reference sentences; a word counts as often as both have it."""
    # Counters, so that a word repeated in the text is shared only once.
    found = Counter(_words(text))
    wanted = Counter(word for reference in references for word in _words(reference))
    shared = (found & wanted).total()
    return Overlap(shared / wanted.total() if wanted else 0.0, shared / found.total() if found else 0.0)


def _words(text: str) -> list[str]:
    # Ligatures and full-width letters of a PDF count as plain letters.
    plain = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in _WORD.findall(plain) if word not in _ARTICLES]

"""The queries of a collection, and what is known of their answers: an object a line of a JSONL file.

A line may name its evidence (`references`, in the form of Chroma's chunking evaluation), accepted answers, or a regular
expression of the words that answer. Every bad line is named before any work starts.
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

# A longer answer is a text of its own: no other text contains it word for word.
MOST_WORDS = 12

# Answers that no document says in so many words.
_UNSAID = frozenset({"yes", "no", "noanswer"})

_ARTICLES = frozenset({"a", "an", "the"})
_WORD = re.compile(r"\w+(?:[.,]\d+)*")


def read_queries(path: Path) -> dict[str, str]:
    """Read lines with `_id` (or `id`) and `text` (or `question`); other keys are left alone, empty lines skipped.

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
        ValueError: They are no list of objects.
    """
    listed = row.get("references") or []
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise ValueError("'references' is not a list of objects")
    return listed


def document_of(reference: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return the id of the document that a reference is about.

    Raises:
        ValueError: It names none, and its line does not either.
    """
    document = reference.get("corpus_id", row.get("corpus_id"))
    if isinstance(document, bool) or not isinstance(document, str | int) or not str(document).strip():
        raise ValueError("a reference names no document: 'corpus_id' is missing")
    return clean(str(document)).strip()


@dataclass(frozen=True, slots=True)
class Gold:
    """What an answer to one question is held against.

    Attributes:
        answers: Accepted short answers; one of them has to be in the text.
        pattern: Matches the words of a document that answer.
        references: The sentences of the documents that answer, whole.
        document: What the name of the file with the evidence begins with; empty where that is not known.
        answerable: False where the documents are known not to hold the answer.
        reference: The answer in words, of any length, for a judge; empty where it is not known.
    """

    answers: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    references: tuple[str, ...] = ()
    document: str = ""
    answerable: bool = True
    reference: str = ""

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
    return read_rows(path, gold_of, hint='Each line is an object like {"_id": "q1", "text": "...", "answer": "..."}')


def gold_of(row: Mapping[str, Any]) -> Gold:
    """Return what one line says.

    Raises:
        ValueError: A value is of the wrong kind.
        re.error: The pattern is none.
    """
    # Null and "" say that none is known, as in the benchmarks that write every key on every line.
    regex = row.get("evidence_regex") or ""
    if not isinstance(regex, str):
        raise ValueError(f"'evidence_regex' is {type(regex).__name__}, not text")  # noqa: TRY004  # told with the others
    # "Yes" and whole paragraphs cannot be looked for in a text: no answer could hold them word for word.
    said = dict.fromkeys(_texts(row, "answers") + _texts(row, "answer"))
    references = tuple(dict.fromkeys(_texts(row, "references")))
    return Gold(
        answers=tuple(text for text in said if _is_short(text)),
        # A match may run over the end of a line: where lines break is the reader's doing.
        pattern=re.compile(regex, re.IGNORECASE | re.DOTALL) if regex else None,
        references=references,
        document=str(row.get("doc") or ""),
        answerable=not row.get("unanswerable", False),
        reference="\n".join(said or references),
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
    # The pattern was written against the document, and an answer quotes that.
    if gold.pattern is not None and gold.pattern.search(text):
        return True
    # With spaces around: 19 is no answer to be found in 1954.
    spoken = f" {' '.join(_words(text))} "
    return any(f" {' '.join(_words(answer))} " in spoken for answer in gold.answers)


@dataclass(frozen=True, slots=True)
class Overlap:
    """The words that a text and the reference sentences share: `recall` of theirs, `precision` of its own."""

    recall: float
    precision: float


def overlap(text: str, references: Sequence[str]) -> Overlap:
    """Return the shared words of a text and the reference sentences, each word counted as often as both have it."""
    # Counted and not only seen: a word that is repeated to fill a text is shared once.
    said = Counter(_words(text))
    wanted = Counter(word for reference in references for word in _words(reference))
    shared = (said & wanted).total()
    return Overlap(shared / wanted.total() if wanted else 0.0, shared / said.total() if said else 0.0)


def _words(text: str) -> list[str]:
    # Ligatures and full-width letters of a PDF are the same words.
    plain = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in _WORD.findall(plain) if word not in _ARTICLES]

"""Evidence by its place or its words, as the lines of `queries.jsonl` name it in the form of Chroma's evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.text.jsonl_rows import read_rows
from anabranch_evaluation.queries import document_of, references_in

SHAPE = '{"_id": "q1", "text": "...", "corpus_id": "d1", "references": [{"start_index": 0, "end_index": 9}]}'


@dataclass(frozen=True, slots=True)
class Reference:
    """A piece of evidence.

    Attributes:
        document: Id of its document, as in `corpus.jsonl`.
        start: First character in the text as it was before ingest; None where only the words are known.
        end: One past the last.
        content: Its words; empty where only the place is known.
    """

    document: str
    start: int | None
    end: int | None
    content: str


def read_references(path: Path) -> dict[str, tuple[Reference, ...]]:
    """Read the `references` of each line of `queries.jsonl`, by query id; a query may have none.

    A reference has `start_index` and `end_index`, which count characters of the document's `text` in `corpus.jsonl`, or
    `content`, its words, or all three; its document is named by `corpus_id` on itself or on the line. The form is that
    of Chroma's chunking evaluation.

    Raises:
        CollectionError: The file cannot be read or has bad lines, named by their numbers.
    """
    hint = f"A line with evidence is an object like {SHAPE}."
    rows = read_rows(path, lambda row: tuple(_references(row)), hint=hint)
    return {key: found for key, found in rows.items() if found}


def _references(row: Mapping[str, Any]) -> Iterator[Reference]:
    for item in references_in(row):
        document, content = document_of(item, row), item.get("content", "")
        if not isinstance(content, str):
            raise ValueError("the 'content' of a reference is not text")  # noqa: TRY004  # told with the others
        start, end = item.get("start_index"), item.get("end_index")
        if not (start is None and end is None and content.strip()) and not _is_span(start, end):
            raise ValueError(f"a reference has neither words nor a place: {start!r} to {end!r}")
        yield Reference(document, start, end, content)


def _is_span(start: object, end: object) -> bool:
    whole = type(start) is int and type(end) is int
    return whole and 0 <= start < end  # type: ignore[operator]  # both are numbers here

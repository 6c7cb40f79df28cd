"""The evidence that a collection names beside its queries: which characters of which document answer each of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.evaluation.query_set import numbered, unusable
from anabranch.text.normalization import clean

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
    references: dict[str, tuple[Reference, ...]] = {}
    problems: list[str] = []
    for number, line in numbered(path):
        try:
            row = json.loads(line)
            found = tuple(_parsed(row))
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: {error}")
            continue
        if found:
            references[str(row.get("_id", row.get("id"))).strip()] = found
    if problems:
        raise unusable(path, problems, hint=f"A line with evidence is an object like {SHAPE}.")
    return references


def _parsed(row: Any) -> Iterator[Reference]:  # noqa: ANN401  # what stands on a line
    listed = row.get("references") if isinstance(row, dict) else None
    if listed is None:
        return
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise ValueError("'references' is not a list of objects")
    for item in listed:
        document = item.get("corpus_id", row.get("corpus_id"))
        if isinstance(document, bool) or not isinstance(document, str | int) or not str(document).strip():
            raise ValueError("a reference names no document: 'corpus_id' is missing")
        content = item.get("content", "")
        if not isinstance(content, str):
            raise ValueError("the 'content' of a reference is not text")  # noqa: TRY004  # told with the others
        start, end = item.get("start_index"), item.get("end_index")
        if not (start is None and end is None and content.strip()) and not _is_span(start, end):
            raise ValueError(f"a reference has neither words nor a place: {start!r} to {end!r}")
        yield Reference(clean(str(document)).strip(), start, end, content)


def _is_span(start: object, end: object) -> bool:
    whole = type(start) is int and type(end) is int
    return whole and 0 <= start < end  # type: ignore[operator]  # both are numbers here

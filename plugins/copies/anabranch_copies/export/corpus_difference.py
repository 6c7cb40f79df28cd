"""Compare two corpora passage by passage, in any stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Protocol

from anabranch.store.corpus_facts import COPYING
from anabranch.store.corpus_snapshot import CorpusSnapshot
from anabranch.store.stored_document import ExaminedDocument, StoredDocument
from anabranch.store.writer_protocol import FileRecord, Progress

_JSON = ("metadata", "access", "pages")
_TEXT = ("path", "source", "key", "title", "digest", "tokens")


class PassageCount(Protocol):
    """Counts the compared leaves."""

    passages: int


def differences(one: CorpusSnapshot, other: CorpusSnapshot, count: PassageCount, progress: Progress) -> Iterator[str]:
    """Yield the differences of two corpora as text.

    It compares ids, texts, places and headings of passages, vectors bit by bit, tags, metadata, records of files
    (except for their stamps) and facts.
    """
    documents, total = 0, one.count() or 0
    for documents, each in enumerate(one.documents(), start=1):
        doc_id = each.row.doc_id if each.row else ""
        yield from (
            f"{each.name}: {problem}" for problem in _compare_documents(one, each, other, other.document(doc_id))
        )
        count.passages += sum(chunk.level == 2 for chunk in each.chunks)
        progress("compared", documents, total)
    if other.count() != documents:
        yield from (f"{source}: only the copy has it" for source in _names_only_in(other, one))
    yield from _compare_files(one, other)
    has, should = other.facts(), one.facts()
    for name in sorted(should):
        if name != COPYING and has.get(name) != should[name]:
            yield f"the fact {name!r} is {has.get(name)!r}, not {should[name]!r}"


def _compare_documents(
    one: CorpusSnapshot, document: ExaminedDocument, other: CorpusSnapshot, copy: ExaminedDocument | None
) -> Iterator[str]:
    if document.row is None or document.fault is not None:
        return  # already reported as not copied
    if copy is None or copy.row is None:
        yield "it is not in the copy"
        return
    yield from (f"its {name} differs" for name in _different_fields(document.row, copy.row))
    if copy.fault is not None or copy.chunks != document.chunks:
        yield "one of its passages differs"
    elif other.vectors(copy) != one.vectors(document):
        yield "one of its vectors differs"


def _different_fields(row: StoredDocument, copy: StoredDocument) -> Iterator[str]:
    for name in _TEXT:
        if getattr(row, name) != getattr(copy, name):
            yield name
    for name in _JSON:
        try:
            # Compared as JSON, because a database may store the same object with other blanks or in another order.
            is_same = json.loads(getattr(row, name)) == json.loads(getattr(copy, name))
        except (TypeError, ValueError):
            is_same = False
        if not is_same:
            yield name


def _names_only_in(one: CorpusSnapshot, other: CorpusSnapshot) -> Iterator[str]:
    for each in one.documents():
        if each.row is not None and other.document(each.row.doc_id) is None:
            yield each.name


def _compare_files(one: CorpusSnapshot, other: CorpusSnapshot) -> Iterator[str]:
    # The paths of a million files need some hundred megabytes.
    has = {record.path: _comparable(record) for record, _ in other.files()}
    for record, _ in one.files():
        if has.pop(record.path, None) != _comparable(record):
            yield f"the record of the file {record.source} differs"
    yield from (f"the record of the file {source}: only the copy has it" for source, *_ in has.values())


def _comparable(record: FileRecord) -> tuple[str, str, tuple[str, ...]]:
    # Without the stamp, which means nothing in another place.
    return record.source, record.sha256, record.access

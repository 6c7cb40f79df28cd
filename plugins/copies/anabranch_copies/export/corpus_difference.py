"""Compares two corpora passage by passage, whatever stores they are in."""

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
    """Where it is counted how many leaves were compared."""

    passages: int


def differences(one: CorpusSnapshot, other: CorpusSnapshot, count: PassageCount, progress: Progress) -> Iterator[str]:
    """Yield how a corpus differs from another one, for people; nothing where they are the same.

    Compared are ids, texts, places and headings of passages, vectors bit by bit, tags, metadata, records of files (but
    for what the file system says of these) and facts.
    """
    documents, total = 0, one.count() or 0
    for documents, each in enumerate(one.documents(), start=1):
        doc_id = each.row.doc_id if each.row else ""
        yield from (f"{each.name}: {said}" for said in _of_document(one, each, other, other.document(doc_id)))
        count.passages += sum(chunk.level == 2 for chunk in each.chunks)
        progress("compared", documents, total)
    if other.count() != documents:
        yield from (f"{source}: only the copy has it" for source in _only_in(other, one))
    yield from _of_files(one, other)
    has, should = other.facts(), one.facts()
    for name in sorted(should):
        if name != COPYING and has.get(name) != should[name]:
            yield f"the fact {name!r} is {has.get(name)!r}, not {should[name]!r}"


def _of_document(
    one: CorpusSnapshot, document: ExaminedDocument, other: CorpusSnapshot, copy: ExaminedDocument | None
) -> Iterator[str]:
    if document.row is None or document.fault is not None:
        return  # told already: it was not copied
    if copy is None or copy.row is None:
        yield "it is not in the copy"
        return
    yield from (f"its {name} differs" for name in _unlike(document.row, copy.row))
    if copy.fault is not None or copy.chunks != document.chunks:
        yield "a passage of it differs"
    elif other.vectors(copy) != one.vectors(document):
        yield "a vector of it differs"


def _unlike(row: StoredDocument, copy: StoredDocument) -> Iterator[str]:
    for name in _TEXT:
        if getattr(row, name) != getattr(copy, name):
            yield name
    for name in _JSON:
        try:
            # By what it says: a database may write the same object with other blanks and in another order.
            is_same = json.loads(getattr(row, name)) == json.loads(getattr(copy, name))
        except (TypeError, ValueError):
            is_same = False
        if not is_same:
            yield name


def _only_in(one: CorpusSnapshot, other: CorpusSnapshot) -> Iterator[str]:
    for each in one.documents():
        if each.row is not None and other.document(each.row.doc_id) is None:
            yield each.name


def _of_files(one: CorpusSnapshot, other: CorpusSnapshot) -> Iterator[str]:
    # Paths of a million files are some hundred megabytes, for the time of the comparison.
    has = {record.path: _known(record) for record, _ in other.files()}
    for record, _ in one.files():
        if has.pop(record.path, None) != _known(record):
            yield f"the record of the file {record.source} differs"
    yield from (f"the record of the file {source}: only the copy has it" for source, *_ in has.values())


def _known(record: FileRecord) -> tuple[str, str, tuple[str, ...]]:
    # Without the stamp: what the file system said of a file is no evidence elsewhere.
    return record.source, record.sha256, record.access

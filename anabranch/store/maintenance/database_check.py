"""Looks through the database: SQLite's own checks, then every document, every passage and every vector."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from anabranch.store.stored_document import (
    StoredDocument,
    dimension_of_most,
    fault,
    is_vector,
    numbers,
    stored_chunks,
    stored_document,
    vectors_of,
)
from anabranch.text.plural import counted

FindingKind = Literal["index", "document", "database"]
"""What has to be made anew: the index or a vector, a document that is not whole, or all of it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        kind: See `FindingKind`.
        said: For a person.
        is_remark: Whether the corpus is sound all the same.
    """

    kind: FindingKind
    said: str
    is_remark: bool = False


def of_database(connection: sqlite3.Connection, seen: Callable[[], None]) -> Iterator[Finding]:
    """Yield what is wrong with the database of a corpus; one document is in memory at a time.

    Args:
        connection: In a transaction, so that all is of one moment.
        seen: Told of each document.
    """
    yield from _of_pages(connection)
    without = 0
    try:
        dimension = dimension_of_most(connection, _embedder(connection))
        for number in numbers(connection):
            try:
                found = stored_document(connection, number)
                chunks = stored_chunks(connection, found.doc_id) if found else []
                if found is not None and (why := fault(found, chunks)) is not None:
                    yield Finding("document", f"{_name(found)}: {why}")
                elif found is not None:
                    without += _without_vector(connection, found, dimension)
            except sqlite3.DatabaseError as error:
                yield Finding("document", f"document number {number} cannot be read: {error}")
            seen()
    except sqlite3.DatabaseError as error:
        yield Finding("database", f"corpus.db: {error}")
    if without:
        yield Finding(
            "index", f"{counted(without, 'passage')} without a vector of the corpus's embedder, or with a bad one"
        )


def _embedder(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT value FROM meta WHERE name = 'embedder'").fetchone()
    return str(row[0]) if row else ""


def _name(document: StoredDocument) -> str:
    return document.source if isinstance(document.source, str) else f"document number {document.number}"


def _of_pages(connection: sqlite3.Connection) -> Iterator[Finding]:
    try:
        # Not `quick_check`: that passes over indexes which differ from their tables, and a document that is in the one
        # and not in the other is found by some questions and not by others.
        for (said,) in connection.execute("PRAGMA integrity_check"):
            # One row may tell of many pages, a line for each below a heading.
            lines = [line for line in said.splitlines() if line != "ok" and not line.startswith("***")]
            yield from (Finding("database", f"corpus.db: {line}") for line in lines)
        # Only where another program wrote with foreign keys off, or a row of `documents` was lost with its page.
        strays = "SELECT count(*) FROM chunks WHERE doc_id NOT IN (SELECT doc_id FROM documents)"
        (count,) = connection.execute(strays).fetchone()
        if count:
            yield Finding("database", f"{counted(count, 'chunk')} of no document")
    except sqlite3.DatabaseError as error:
        yield Finding("database", f"corpus.db: {error}")


def _without_vector(connection: sqlite3.Connection, document: StoredDocument, dimension: int) -> int:
    return sum(
        vector is None or not is_vector(vector, dimension) for _, vector in vectors_of(connection, document.doc_id)
    )

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

FindingKind = Literal["database", "version", "torn", "strays", "vectors", "index", "behind", "leftover"]
"""Where it was found, which is also how it is mended.

`database`: SQLite itself complains. `version`: the tables are of an earlier version. `torn`: a document is not whole.
`strays`: chunks of no document. `vectors`: passages without their vector. `index`: an index file is damaged, or holds
something else than the database. `behind`: documents have changed since the index was made. `leftover`: what a run
that was killed left in the folder.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        kind: See `FindingKind`.
        said: For a person.
        number: Of the document, where it is one.
        is_remark: Whether the corpus is sound all the same.
    """

    kind: FindingKind
    said: str
    number: int = 0
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
        dimension = dimension_of_most(connection)
        for number in numbers(connection):
            try:
                found = stored_document(connection, number)
                chunks = stored_chunks(connection, found.doc_id) if found else []
                if found is not None and (why := fault(found, chunks)) is not None:
                    yield Finding("torn", f"{_name(found)}: {why}", number)
                elif found is not None:
                    without += _without_vector(connection, found, dimension)
            except sqlite3.DatabaseError as error:
                yield Finding("torn", f"document number {number} cannot be read: {error}", number)
            seen()
    except sqlite3.DatabaseError as error:
        yield Finding("database", f"corpus.db: {error}")
    if without:
        yield Finding(
            "vectors", f"{counted(without, 'passage')} without a vector of the corpus's embedder, or with a bad one"
        )


def _name(document: StoredDocument) -> str:
    return document.source if isinstance(document.source, str) else f"document number {document.number}"


def _of_pages(connection: sqlite3.Connection) -> Iterator[Finding]:
    try:
        for (said,) in connection.execute("PRAGMA integrity_check"):
            # One row may tell of many pages, a line for each below a heading.
            lines = [line for line in said.splitlines() if line != "ok" and not line.startswith("***")]
            yield from (Finding("database", f"corpus.db: {line}") for line in lines)
        strays = "SELECT count(*) FROM chunks WHERE doc_id NOT IN (SELECT doc_id FROM documents)"
        (count,) = connection.execute(strays).fetchone()
        if count:
            yield Finding("strays", f"{counted(count, 'chunk')} of no document")
    except sqlite3.DatabaseError as error:
        yield Finding("database", f"corpus.db: {error}")


def _without_vector(connection: sqlite3.Connection, document: StoredDocument, dimension: int) -> int:
    return sum(
        vector is None or not is_vector(vector, dimension) for _, vector in vectors_of(connection, document.doc_id)
    )

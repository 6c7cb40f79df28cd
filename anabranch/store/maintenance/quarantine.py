"""Takes what is torn out of a database, having written down what is left of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from anabranch.store.corpus_writer import Truth
from anabranch.store.export.document_lines import torn_record
from anabranch.store.export.json_lines import Record, line_of
from anabranch.store.maintenance.problem import Finding
from anabranch.store.stored_document import stored_chunks, stored_document
from anabranch.text.plural import counted

TORN = "torn.jsonl"
"""In the folder of the corpus, for people; nothing reads it."""

_OF_NOBODY = "doc_id NOT IN (SELECT doc_id FROM documents)"
_READ_AGAIN = "UPDATE files SET sha256 = '', stamp = ''"


def set_aside(folder: Path, truth: Truth, torn: Sequence[Finding], say: Callable[[str], None]) -> None:
    """Remove torn documents and chunks of no document; the next ingest reads their files again.

    Args:
        folder: The corpus.
        truth: Its database.
        torn: A finding for each torn document.
        say: Told of each thing that was removed.
    """
    strays = [row[0] for row in truth.all(f"SELECT DISTINCT doc_id FROM chunks WHERE {_OF_NOBODY}")]  # noqa: S608
    _keep(folder / TORN, _remains(truth, torn, strays))
    with truth.transaction() as changing:
        changing()
        for finding in torn:
            _mark(truth, finding.number)
            truth.connection.execute("DELETE FROM documents WHERE number = ?", (finding.number,))
        gone = truth.connection.execute(f"DELETE FROM chunks WHERE {_OF_NOBODY}").rowcount  # noqa: S608  # constants
        if gone:
            truth.connection.execute(_READ_AGAIN)
    for finding in torn:
        say(f"{finding.said}. It was removed; the next ingest of its file reads it again")
    if gone:
        said = f"{counted(gone, 'chunk')} of no document removed"
        say(f"{said}; as nobody knows whose they were, the next ingest reads every file again")
    say(f"what was left of what was removed is in {folder / TORN}")


def _mark(truth: Truth, number: int) -> None:
    """Have the file of a document read again; all files, if it cannot be known which it was."""
    of_it = "path = (SELECT path FROM documents WHERE number = ?)"
    if not truth.connection.execute(f"{_READ_AGAIN} WHERE {of_it}", (number,)).rowcount:
        truth.connection.execute(_READ_AGAIN)


def _remains(truth: Truth, torn: Sequence[Finding], strays: Sequence[str]) -> Iterator[Record]:
    connection = truth.connection
    for finding in torn:
        document = stored_document(connection, finding.number)
        chunks = stored_chunks(connection, document.doc_id) if document is not None else []
        yield torn_record(document, chunks, finding.said)
    for doc_id in strays:
        yield torn_record(None, stored_chunks(connection, doc_id), "its name is lost")


def _keep(file: Path, records: Iterator[Record]) -> None:
    with file.open("ab") as out:
        for record in records:
            out.write(line_of(record))
        out.flush()
        os.fsync(out.fileno())

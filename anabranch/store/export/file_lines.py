"""The record of a file as a line of an exported corpus, and back: what lets a later ingest leave the file alone.

What the file system said of a file (size, times) stays behind: elsewhere it is no evidence of anything.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from anabranch.store.export.json_lines import Record
from anabranch.store.writer_protocol import FileRecord

_TEXTS = ("path", "source", "sha256")


def file_records(connection: sqlite3.Connection) -> Iterator[Record]:
    """Yield the line of each file that was taken in, with the number of its documents."""
    sql = (
        "SELECT path, source, sha256, access, (SELECT count(*) FROM documents d WHERE d.path = f.path) "
        "FROM files f ORDER BY path"
    )
    for path, source, digest, access, documents in connection.execute(sql):
        yield {
            "kind": "file",
            "path": path,
            "source": source,
            "sha256": digest,
            "access": json.loads(access),
            "documents": documents,
        }


def file_of(record: Record) -> tuple[FileRecord, int]:
    """Return the record of a file, and how many documents it has to have.

    Raises:
        ValueError: The line lacks something.
    """
    access, documents = record.get("access"), record.get("documents")
    if not all(isinstance(record.get(name), str) for name in _TEXTS) or type(documents) is not int:
        raise ValueError("the record of a file lacks something")
    if not isinstance(access, list) or not all(isinstance(tag, str) for tag in access):
        raise ValueError(f"'access' has to be a list of tags, not {access!r}")
    path, source, digest = (record[name] for name in _TEXTS)
    # Not complete: the documents of it that the corpus has beside these are nobody's to remove here.
    return FileRecord(path, source, digest, tuple(access), complete=False), documents

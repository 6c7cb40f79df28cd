r"""The lines of an exported corpus.

::

    {"kind": "corpus", "format": "anabranch", "version": 1, "embedder": ..., "sizes": [2048, 512, 128], ...}
    {"kind": "document", "source": ..., "title": ..., "access": [], "metadata": {}, ..., "text": ..., "chunks": [...]}
    {"kind": "file", "path": ..., "source": ..., "sha256": ..., "access": [], "documents": 1}
    {"kind": "end", "documents": 1, "files": 1}

Each line ends with a checksum of itself, so that a document comes back exactly as it was, or not at all. Addresses of
servers and paths of models are not written: whoever reads the file says where its words may be sent.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from anabranch.chunking.hierarchical_chunker import Sizes, checked_sizes
from anabranch.errors import SettingsError
from anabranch.store.writer_protocol import FileRecord

FORMAT = "anabranch"
VERSION = 1
CHECKSUM = "line_sha256"
LONGEST = 1 << 30
"""Bytes of a line; what is longer was not exported from a corpus."""

Record = dict[str, Any]

_OF_A_FILE = ("path", "source", "sha256")


@dataclass(frozen=True, slots=True)
class Header:
    """The first line.

    Attributes:
        embedder: Name of the embedder, empty where it could not be read.
        dimension: Length of its vectors.
        sizes: Tokens of root, middle and leaf; None where they could not be read.
        language: Of the analyser.
        documents: How many documents the corpus had, None where they could not be counted.
        vectors: Whether the vectors are in the file.
    """

    embedder: str
    dimension: int
    sizes: Sizes | None
    language: str
    documents: int | None
    vectors: bool

    def record(self) -> Record:
        """Return the line."""
        return {"kind": "corpus", "format": FORMAT, "version": VERSION, **asdict(self)}


def header_of(record: Record) -> Header:
    """Return what a first line says.

    Raises:
        ValueError: It is none, or of another version.
    """
    if record.get("kind") != "corpus" or record.get("format") != FORMAT:
        raise ValueError("it is not the first line of an exported corpus")
    if record.get("version") != VERSION:
        raise ValueError(f"it has version {record.get('version')!r}; this program reads version {VERSION}")
    embedder, dimension, language = (record.get(name) for name in ("embedder", "dimension", "language"))
    if not isinstance(embedder, str) or not isinstance(language, str) or type(dimension) is not int:
        raise ValueError("it does not say which embedder and language the corpus has")
    documents = record.get("documents")
    return Header(
        embedder=embedder,
        dimension=dimension,
        sizes=_sizes(record.get("sizes")),
        language=language,
        documents=documents if type(documents) is int else None,
        vectors=record.get("vectors") is True,
    )


def _sizes(sizes: object) -> Sizes | None:
    if sizes is None:
        return None
    try:
        return checked_sizes(sizes if isinstance(sizes, list) else ())
    except SettingsError as error:
        raise ValueError(f"its sizes {sizes!r} cannot be used") from error


def line_of(record: Record) -> bytes:
    """Return a line with its checksum and its end."""
    # The checksum is one more key and not a line of its own: sorting, cutting and joining files by lines keeps each
    # with its own.
    signed = {**record, CHECKSUM: checksum(record)}
    return json.dumps(signed, ensure_ascii=False).encode("utf-8") + b"\n"


def record_of(line: bytes) -> Record:
    """Return what a line holds, without its checksum.

    Raises:
        ValueError: It is not JSON, or not what was written.
    """
    try:
        record = json.loads(line.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise ValueError("it is not a line of an exported corpus")  # noqa: TRY004  # a bad line, not a bad call
    if record.pop(CHECKSUM, None) != checksum(record):
        raise ValueError("it is not what was exported: its checksum differs")
    return record


def checksum(record: Record) -> str:
    """Return 32 hex characters that name what a record holds, in whatever order."""
    # Sorted, because programs between export and import may write the keys in another order.
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]


def file_records(connection: sqlite3.Connection) -> Iterator[Record]:
    """Yield the line of each file that was taken in, with the number of its documents: a later ingest leaves it alone.

    What the file system said of it (size, times) stays behind: elsewhere it is no evidence of anything.
    """
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
    if not all(isinstance(record.get(name), str) for name in _OF_A_FILE) or type(documents) is not int:
        raise ValueError("the record of a file lacks something")
    if not isinstance(access, list) or not all(isinstance(tag, str) for tag in access):
        raise ValueError(f"'access' has to be a list of tags, not {access!r}")
    path, source, digest = (record[name] for name in _OF_A_FILE)
    # Not complete: the documents of it that the corpus has beside these are nobody's to remove here.
    return FileRecord(path, source, digest, tuple(access), complete=False), documents

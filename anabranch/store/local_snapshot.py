"""All of the corpus in a folder at one moment."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import CorpusDamagedError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_facts import FILES, INDEXED, counts_in, facts_in
from anabranch.store.corpus_folder import SAVE, size_of
from anabranch.store.corpus_snapshot import FileEntry, Finding, Listed, Overview
from anabranch.store.index.manifest import Manifest, current_name, read_manifest
from anabranch.store.local_verify import findings_in
from anabranch.store.schema import has_summaries
from anabranch.store.stored_document import (
    ExaminedDocument,
    examine_document,
    examine_documents,
    find_dimension,
    is_vector,
    vectors_of,
)
from anabranch.store.writer_protocol import FileRecord, Progress, Summary
from anabranch.text.normalization import squeeze

COUNTED = ("documents", "chunks", "leaves", "tokens")


class LocalSnapshot:
    """A read transaction on the database of a folder, implementing `CorpusSnapshot`; see `LocalStore.snapshot`."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        """Take a connection in a transaction."""
        self.folder = folder
        self.address = str(folder)
        self._connection = connection
        # Check the layout of a page before following it, for it may be damaged.
        connection.execute("PRAGMA cell_size_check = ON")
        self._dimension: int | None = None

    def facts(self) -> dict[str, str]:
        """Return the facts about the corpus, without what the folder itself keeps count of."""
        with _as_damage():
            facts = facts_in(self._connection)
        return {name: value for name, value in facts.items() if name not in ("changes", INDEXED, FILES)}

    def overview(self) -> Overview:
        """Count what is in it."""
        manifest, problem = _index(self.folder)
        meta = facts_in(self._connection)
        is_current = manifest is not None and manifest.changes == int(meta.get("changes", 0))
        # A current index knows the counts; counting a million chunks takes a while.
        known = {name: getattr(manifest, name) for name in COUNTED} if is_current else None
        counts = known or counts_in(self._connection)
        return Overview(
            path=self.address,
            generation=manifest.number if manifest else 0,
            documents=counts["documents"],
            chunks=counts["chunks"],
            leaves=counts["leaves"],
            tokens=counts["tokens"],
            embedder=meta.get("embedder", ""),
            dimension=manifest.dimension if manifest else 0,
            bytes=size_of(self.folder),
            is_current=is_current or not (manifest or counts["leaves"]),
            problem=problem,
        )

    def listed(self, most: int | None) -> Iterator[Listed]:
        """Yield its documents by source."""
        sql = (
            "SELECT source, title, key, access, tokens, (SELECT count(*) FROM chunks c WHERE c.doc_id = d.doc_id) "
            "FROM documents d ORDER BY source LIMIT ?"
        )
        rows = self._connection.execute(sql, (-1 if most is None else most,))
        for source, title, key, access, tokens, chunks in rows:
            yield Listed(source, title, key, json.loads(access), tokens, chunks)

    def dimension(self) -> int:
        """Return the length that most of its vectors have."""
        if self._dimension is None:
            try:
                self._dimension = find_dimension(self._connection, facts_in(self._connection).get("embedder", ""))
            except sqlite3.DatabaseError:  # the vectors are lost, and can be made anew from the text
                self._dimension = 0
        return self._dimension

    def count(self) -> int | None:
        """Return how many documents it has."""
        try:
            return int(self._connection.execute("SELECT count(*) FROM documents").fetchone()[0])
        except sqlite3.DatabaseError:
            return None

    def documents(self) -> Iterator[ExaminedDocument]:
        """Yield each document in the order that they came in."""
        with _as_damage():
            yield from examine_documents(self._connection)

    def document(self, doc_id: str) -> ExaminedDocument | None:
        """Return one document."""
        with _as_damage():
            return examine_document(self._connection, doc_id)

    def vectors(self, document: ExaminedDocument) -> list[bytes | None]:
        """Return the vector of each leaf."""
        doc_id = document.row.doc_id if document.row else ""
        try:
            found = [vector for _, vector in vectors_of(self._connection, doc_id)]
        # Vectors on a damaged page are lost, but the documents after this one can still be read.
        except sqlite3.DatabaseError:
            return [None for chunk in document.chunks if chunk.level == 2]
        return [vector if is_vector(vector, self.dimension()) else None for vector in found]

    def files(self) -> Iterator[FileEntry]:
        """Yield the record of each file by path."""
        sql = (
            "SELECT path, source, sha256, access, stamp, (SELECT count(*) FROM documents d WHERE d.path = f.path) "
            "FROM files f ORDER BY path"
        )
        with _as_damage("the records of files"):
            for path, source, digest, access, stamp, documents in self._connection.execute(sql):
                yield FileEntry(FileRecord(path, source, digest, tuple(json.loads(access)), stamp=stamp), documents)

    def summaries(self) -> Iterator[Summary]:
        """Yield what a chat model wrote of documents."""
        with _as_damage("the summaries"):
            if has_summaries(self._connection):
                sql = "SELECT doc_id, digest, text FROM summaries ORDER BY doc_id"
                yield from (Summary(*row) for row in self._connection.execute(sql))

    def findings(self, progress: Progress) -> Iterator[Finding]:
        """Yield what is wrong with it."""
        yield from findings_in(self.folder, self._connection, self, progress)


@contextmanager
def _as_damage(part: str = "") -> Iterator[None]:
    try:
        yield
    # A flipped bit may also leave invalid JSON or another type, which SQLite accepts in any column.
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        where = f"{DATABASE}, {part}" if part else DATABASE
        raise CorpusDamagedError(f"{where}: {squeeze(str(error))}", hint=SAVE) from error


def _index(folder: Path) -> tuple[Manifest | None, str]:
    try:
        name = current_name(folder)
        return (read_manifest(folder, name), "") if name is not None else (None, "")
    except CorpusDamagedError as error:
        # Returned, not raised: an owner must be able to list a damaged corpus.
        return None, error.message

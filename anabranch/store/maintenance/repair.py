"""Mends a corpus: what is derived is made anew, what is torn is set aside and its file marked to be read again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_folder import SAVE, CorpusProgress, must_exist, silent
from anabranch.store.export.document_lines import torn_record
from anabranch.store.export.json_lines import Record, line_of
from anabranch.store.index.manifest import sweep
from anabranch.store.index.publisher import publish
from anabranch.store.maintenance.database_check import Finding, FindingKind
from anabranch.store.maintenance.rebuild import embed_missing
from anabranch.store.maintenance.verify import examine
from anabranch.store.passage_reader import read_only
from anabranch.store.schema import VERSION, version_of
from anabranch.store.stored_document import dimension_of_most, is_vector, stored_chunks, stored_document
from anabranch.store.write_lock import writing
from anabranch.text.plural import counted

TORN = "torn.jsonl"
"""In the folder of the corpus, for people; nothing reads it."""

_OF_NOBODY = "doc_id NOT IN (SELECT doc_id FROM documents)"
_READ_AGAIN = "UPDATE files SET sha256 = '', stamp = ''"

ROUNDS = 3
"""What a torn document hides, such as a difference between index and database, only the next look finds."""


@dataclass(slots=True)
class RepairReport:
    """What a repair came upon.

    Attributes:
        found: What was wrong, the first time that it was found.
        done: What was done about it, line by line.
        left: What is wrong still.
    """

    found: list[Finding] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)


def repair(
    corpus: StrPath,
    *,
    wait: float = 0.0,
    said: Callable[[str], None] | None = None,
    progress: CorpusProgress = silent,
) -> RepairReport:
    """Look through a corpus and mend what can be mended; what is left of what is removed is kept in `torn.jsonl`.

    Args:
        corpus: The corpus.
        wait: Seconds to wait for another writer.
        said: Told of each thing that was done, when it is.
        progress: Told of the stages 'documents', 'passages' and 'index'.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusLockedError: Another process is writing.
        CorpusDamagedError: The database cannot be opened; `anabranch corpus export` may read it.
        EmbedderMismatchError: Passages have to be embedded, and the embedder cannot be had.
    """
    folder = must_exist(corpus)
    report = RepairReport()
    with writing(folder, wait=wait):
        before = _version(folder)
        with closing(CorpusDatabase(folder)) as database:
            mend = _Repair(folder, database, report, said, progress)
            if before < VERSION:
                mend.say(f"the tables were brought from version {before} to {VERSION}")
            _mended(folder, mend, report, progress)
    return report


def _mended(folder: Path, mend: _Repair, report: RepairReport, progress: CorpusProgress) -> None:
    for _ in range(ROUNDS):
        found = examine(folder, progress)
        report.left = [finding for finding in found if not finding.is_remark]
        report.found += [finding for finding in found if finding not in report.found]
        if not found or not mend.mend(found):
            return
    report.left = [finding for finding in examine(folder, progress) if not finding.is_remark]


def _version(folder: Path) -> int:
    with closing(read_only(folder / DATABASE)) as connection:
        return version_of(connection)


class _Repair:
    """One run."""

    def __init__(
        self,
        folder: Path,
        database: CorpusDatabase,
        report: RepairReport,
        said: Callable[[str], None] | None,
        progress: CorpusProgress,
    ) -> None:
        self._folder = folder
        self._database = database
        self._report = report
        self._said = said
        self._progress = progress

    def say(self, done: str) -> None:
        """Note something that was done."""
        self._report.done.append(done)
        if self._said is not None:
            self._said(done)

    def mend(self, found: Sequence[Finding]) -> bool:
        """Mend from the bottom up: database, documents, vectors, index, folder; False if it cannot be done."""
        kinds: set[FindingKind] = {finding.kind for finding in found}
        if "database" in kinds and not self._has_reindexed():
            self.say(f"{DATABASE} is damaged in a way that cannot be mended in place. {SAVE}")
            return False
        if kinds & {"torn", "strays"}:
            _set_aside(self._folder, self._database, [finding for finding in found if finding.kind == "torn"], self.say)
        if "vectors" in kinds:
            self._embed([finding.number for finding in found if finding.kind == "vectors" and finding.number])
        self._index(kinds)
        if "leftover" in kinds:
            sweep(self._folder)
            self.say("what was left over in the folder was deleted")
        return True

    def _has_reindexed(self) -> bool:
        """Make SQLite's own indexes anew, and tell whether that was what was wrong."""
        with suppress(sqlite3.DatabaseError):
            with self._database.transaction():
                self._database.connection.execute("REINDEX")
            if self._database.all("PRAGMA integrity_check") == [("ok",)]:
                self.say(f"the indexes inside {DATABASE} were made anew")
                return True
        return False

    def _embed(self, differing: Sequence[int]) -> None:
        """Embed what has no vector, a bad one, or another one than the index, whose checksums are right."""
        name = self._database.meta("embedder") or ""
        model = load_embedder(self._database.meta("spec") or DEFAULT_EMBEDDER, self._database.meta("base_url") or None)
        dimension = dimension_of_most(self._database.connection)
        vectors = self._database.connection.execute(
            "SELECT vector_key, vector FROM vectors WHERE embedder = ?", (name,)
        )
        bad = [key for key, vector in vectors if not is_vector(vector, dimension)]
        of_document = "SELECT vector_key FROM chunks JOIN documents USING (doc_id) WHERE number = ? AND level = 2"
        bad += [key for number in differing for (key,) in self._database.all(of_document, number)]
        with self._database.transaction():
            sql = "DELETE FROM vectors WHERE vector_key = ? AND embedder = ?"
            self._database.connection.executemany(sql, [(key, name) for key in bad])
        self.say(f"{counted(embed_missing(self._database, model, self._progress), 'passage')} embedded again")

    def _index(self, kinds: set[FindingKind]) -> None:
        anew = bool(kinds & {"index", "vectors"})
        if not anew and not kinds & {"behind", "torn", "strays"}:
            return
        publish(self._database, anew=anew, progress=partial(self._progress, "index"))
        self.say("the index was made anew" if anew else "the index was brought up to the documents")


def _set_aside(folder: Path, database: CorpusDatabase, torn: Sequence[Finding], say: Callable[[str], None]) -> None:
    """Remove torn documents and chunks of no document; the next ingest reads their files again.

    Args:
        folder: The corpus.
        database: Its database.
        torn: A finding for each torn document.
        say: Told of each thing that was removed.
    """
    strays = [row[0] for row in database.all(f"SELECT DISTINCT doc_id FROM chunks WHERE {_OF_NOBODY}")]  # noqa: S608
    _keep(folder / TORN, _remains(database, torn, strays))
    with database.transaction() as changing:
        changing()
        for finding in torn:
            _have_read_again(database, finding.number)
            database.connection.execute("DELETE FROM documents WHERE number = ?", (finding.number,))
        gone = database.connection.execute(f"DELETE FROM chunks WHERE {_OF_NOBODY}").rowcount  # noqa: S608  # constants
        if gone:
            database.connection.execute(_READ_AGAIN)
    for finding in torn:
        say(f"{finding.said}. It was removed; the next ingest of its file reads it again")
    if gone:
        said = f"{counted(gone, 'chunk')} of no document removed"
        say(f"{said}; as nobody knows whose they were, the next ingest reads every file again")
    say(f"what was left of what was removed is in {folder / TORN}")


def _have_read_again(database: CorpusDatabase, number: int) -> None:
    """Have the file of a document read again; all files, if it cannot be known which it was."""
    of_it = "path = (SELECT path FROM documents WHERE number = ?)"
    if not database.connection.execute(f"{_READ_AGAIN} WHERE {of_it}", (number,)).rowcount:
        database.connection.execute(_READ_AGAIN)


def _remains(database: CorpusDatabase, torn: Sequence[Finding], strays: Sequence[str]) -> Iterator[Record]:
    connection = database.connection
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

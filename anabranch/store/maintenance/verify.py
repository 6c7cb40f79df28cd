"""Looks through a whole corpus and says what is wrong with it; changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import chain
from pathlib import Path

from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_folder import SAVE, CorpusProgress, must_exist, silent, size_of
from anabranch.store.index.manifest import leftovers
from anabranch.store.maintenance.database_check import Finding, FindingKind, of_database
from anabranch.store.maintenance.index_check import of_index
from anabranch.store.passage_reader import read_only
from anabranch.store.schema import checked_version

REMEDIES: dict[FindingKind, str] = {
    "index": "Make anew what is made from the documents: anabranch corpus rebuild.",
    "document": "Take what is not whole out and in again: anabranch corpus remove SOURCE, then ingest its folder.",
    "database": SAVE,
}
"""What to do about each kind of finding, the mildest first."""


def verify(corpus: StrPath) -> list[str]:
    """Return what is wrong with a corpus, one line each; an empty list means sound. Nothing is changed.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: It is of another version of this program.
    """
    return [finding.said for finding in examine(corpus) if not finding.is_remark]


def examine(corpus: StrPath, progress: CorpusProgress = silent) -> list[Finding]:
    """Look through a corpus. Nothing is changed, and others may read and write meanwhile.

    Checked: the database's own integrity, that every document is exactly what was written and has its vectors, the
    checksums of the index files, that the index is one of these documents, and what else lies in the folder.

    Args:
        corpus: The corpus.
        progress: Told of the stage 'documents'.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: It is of another version of this program.
    """
    folder = must_exist(corpus)
    found: list[Finding] = []
    try:
        with closing(read_only(folder / DATABASE)) as connection:
            # In one read transaction: next to a writer, a document that was replaced between two looks would seem torn.
            connection.execute("BEGIN")
            checked_version(connection)
            found.extend(chain(of_database(connection, _counter(connection, progress)), of_index(folder, connection)))
    except sqlite3.DatabaseError as error:
        found.append(Finding("database", f"{DATABASE}: {error}"))
    return found + _of_folder(folder)


def _counter(connection: sqlite3.Connection, progress: CorpusProgress) -> Callable[[], None]:
    done, total = 0, 0

    def seen() -> None:
        nonlocal done, total
        if not done:
            (total,) = connection.execute("SELECT count(*) FROM documents").fetchone()
        done += 1
        progress("documents", done, total)

    return seen


def _of_folder(folder: Path) -> list[Finding]:
    """Return what no index has, which does no harm: a run that is writing now may need it yet."""
    return [
        Finding("index", f"{path.relative_to(folder)} is in no index ({size_of(path):,} bytes)", is_remark=True)
        for path in leftovers(folder)
    ]

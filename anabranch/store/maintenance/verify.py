"""Looks through a whole corpus and says what is wrong with it; changes nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_folder import CorpusProgress, must_exist, silent, size_of
from anabranch.store.index.manifest import leftovers
from anabranch.store.maintenance.database_check import Finding, of_database
from anabranch.store.maintenance.index_check import of_files, of_index
from anabranch.store.passage_reader import read_only
from anabranch.store.schema import VERSION, version_of
from anabranch.store.write_lock import holder


def verify(corpus: StrPath) -> list[str]:
    """Return what is wrong with a corpus, one line each; an empty list means sound. Nothing is changed.

    Raises:
        CorpusNotFoundError: There is no corpus there.
    """
    return [finding.said for finding in examine(corpus) if not finding.is_remark]


def examine(corpus: StrPath, progress: CorpusProgress = silent) -> list[Finding]:
    """Look through a corpus. Nothing is changed, and others may read and write meanwhile.

    Checked: the database's own integrity, that every document is exactly what was written and has its vectors, the
    checksums of the index files, that index and database hold the same documents, passages, vectors and (for some
    documents) words, that the statistics are right, and what else lies in the folder.

    Args:
        corpus: The corpus.
        progress: Told of the stages 'documents' and 'index'.

    Raises:
        CorpusNotFoundError: There is no corpus there.
    """
    folder = must_exist(corpus)
    try:
        with closing(read_only(folder / DATABASE)) as connection:
            connection.execute("BEGIN")
            found = list(_examined(folder, connection, progress))
    except sqlite3.DatabaseError as error:
        found = [Finding("database", f"{DATABASE}: {error}"), *of_files(folder)]
    who = holder(folder)
    if who is not None and who.pid != os.getpid():
        # The index of what is being written comes when that is done.
        behind = [Finding("behind", f"{who} is writing to it", is_remark=True)]
        return [finding for finding in found if finding.kind != "behind"] + behind
    return found + _of_folder(folder)


def _examined(folder: Path, connection: sqlite3.Connection, progress: CorpusProgress) -> Iterator[Finding]:
    version = version_of(connection)
    if version != VERSION:
        what = "the next opening brings them up" if version < VERSION else "update Anabranch"
        yield Finding("version", f"its tables are of version {version}, not {VERSION}: {what}")
        return
    found = list(of_database(connection, _counter("documents", connection, progress)))
    yield from found
    if any(finding.kind in ("database", "torn", "strays") for finding in found):
        yield from of_files(folder)
    else:
        yield from of_index(folder, connection, _counter("index", connection, progress))


def _counter(stage: str, connection: sqlite3.Connection, progress: CorpusProgress) -> Callable[[], None]:
    done, total = 0, 0

    def seen() -> None:
        nonlocal done, total
        if not done:
            (total,) = connection.execute("SELECT count(*) FROM documents").fetchone()
        done += 1
        progress(stage, done, total)

    return seen


def _of_folder(folder: Path) -> list[Finding]:
    """Return what runs that were killed left in the folder: no harm, but room; asked while nobody writes."""
    return [
        Finding("leftover", f"{path.relative_to(folder)} is left over ({size_of(path):,} bytes)", is_remark=True)
        for path in leftovers(folder)
    ]

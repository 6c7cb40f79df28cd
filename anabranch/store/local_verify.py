"""Checks the folder of a corpus: its database, its documents, its index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import CorpusDamagedError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.connections import open_for_reading
from anabranch.store.corpus_facts import FILES, History, facts_in, history_in
from anabranch.store.corpus_folder import size_of
from anabranch.store.corpus_snapshot import CorpusSnapshot, Finding, FindingKind
from anabranch.store.index.manifest import Manifest, current_name, leftovers
from anabranch.store.index.segment_index import Index
from anabranch.store.records import digest_of
from anabranch.store.schema import has_summaries
from anabranch.store.stored_document import is_intact
from anabranch.store.writer_protocol import Progress
from anabranch.text.analyzer import analyser
from anabranch.text.plural import counted

_EDITION = np.dtype([("number", np.int64), ("born", np.int64), ("passages", "S16")])

# Tables whose rows have a checksum of their own, and what to repair where one is wrong.
_ROWS: dict[str, FindingKind] = {"meta": "database", "files": "document", "summaries": "document"}


def findings_in(
    folder: Path, connection: sqlite3.Connection, snapshot: CorpusSnapshot, progress: Progress
) -> Iterator[Finding]:
    """Yield what is wrong with the corpus in a folder.

    Checked: the database's own integrity, that every document and every other row is exactly what was written, that
    each passage has its vector, that no record of a file is missing, the checksums of the index files, that the index
    is one of these documents and has exactly their passages, and what else lies in the folder.
    """
    documents = _check_documents(snapshot, progress)
    for check in (_check_pages(connection), documents, _check_rows(connection), _check_index(folder, connection)):
        try:
            yield from check
        except sqlite3.DatabaseError as error:
            yield Finding("database", f"{DATABASE}: {error}")
    yield from _check_folder(folder)


def _check_folder(folder: Path) -> list[Finding]:
    """Return files that no index uses; they do no harm, and a run in progress may need them."""
    found: list[Finding] = []
    for path in leftovers(folder):
        with suppress(FileNotFoundError):  # a writer swept it meanwhile
            said = f"{path.relative_to(folder)} is in no index ({size_of(path):,} bytes)"
            found.append(Finding("index", said, is_remark=True))
    return found


def _check_documents(snapshot: CorpusSnapshot, progress: Progress) -> Iterator[Finding]:
    """Yield what is wrong with documents and vectors; one document is in memory at a time."""
    without = 0
    try:
        total = snapshot.count() or 0
        for done, each in enumerate(snapshot.documents(), start=1):
            if each.fault is not None:
                yield Finding("document", f"{each.name or f'document number {each.number}'}: {each.fault}")
            else:
                without += snapshot.vectors(each).count(None)
            progress("documents", done, total)
    except CorpusDamagedError as error:
        yield Finding("database", error.message)
    if without:
        yield Finding(
            "index", f"{counted(without, 'passage')} without a vector of the corpus's embedder, or with a bad one"
        )


def _check_pages(connection: sqlite3.Connection) -> Iterator[Finding]:
    # Not `quick_check`, which does not compare indexes with their tables: a document missing from an index is found by
    # some questions only.
    for (said,) in connection.execute("PRAGMA integrity_check"):
        # One row may tell of many pages, a line for each below a heading.
        lines = [line for line in said.splitlines() if line != "ok" and not line.startswith("***")]
        yield from (Finding("database", f"corpus.db: {line}") for line in lines)
    # This happens if another program wrote without foreign keys, or a damaged page lost a row of `documents`.
    strays = "SELECT count(*) FROM chunks WHERE doc_id NOT IN (SELECT doc_id FROM documents)"
    (count,) = connection.execute(strays).fetchone()
    if count:
        yield Finding("database", f"{counted(count, 'chunk')} without a document")


def _check_rows(connection: sqlite3.Connection) -> Iterator[Finding]:
    for table, kind in _ROWS.items():
        if table == "summaries" and not has_summaries(connection):
            continue
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608  # ours
            if not is_intact(row):
                yield Finding(kind, f"{DATABASE}: the row {str(row[0])[:200]!r} of {table} is not what was written")
    written = facts_in(connection).get(FILES, "0")
    (files,) = connection.execute("SELECT count(*) FROM files").fetchone()
    if str(files) != written:
        said = f"{counted(files, 'record')} of files where {written} were written"
        yield Finding("index", f"{DATABASE}: {said}: ingest the folders again, then run rebuild")


def _check_index(folder: Path, connection: sqlite3.Connection) -> Iterator[Finding]:
    """Yield what is wrong with the current index of a corpus.

    Checksums vouch for the files, so documents are compared by their editions and the ids of their passages alone.
    """
    meta = facts_in(connection)
    try:
        name = current_name(folder)
        index = Index(folder, name) if name is not None else None
    except CorpusDamagedError as error:
        yield Finding("index", error.message)
        return
    if index is None:
        if connection.execute("SELECT 1 FROM chunks WHERE level = 2 LIMIT 1").fetchone() is not None:
            yield Finding("index", "there is no index yet; the next search makes it", is_remark=True)
        return
    # All checksums: opening checks only the beginnings of the files, and a search those of small files.
    problems = [*index.damage(), *_check_settings(index.manifest, meta)]
    yield from (Finding("index", problem) for problem in problems)
    history = history_in(connection)
    if index.manifest.changes in history.indexed - {history.changes}:
        # Only a remark: a killed run or a run in progress leaves the index like this.
        said = "the index is older than the documents; the next search updates it"
        yield Finding("index", said, is_remark=True)
    elif index.manifest.changes != history.changes:
        yield _explain_foreign_index(folder, index.manifest, history)
    elif not problems:
        yield from _check_editions(index, connection)


def _explain_foreign_index(folder: Path, manifest: Manifest, history: History) -> Finding:
    # What is checked is the state at the beginning: a run may have published another one since.
    with open_for_reading(folder) as connection:
        now = history_in(connection)
    if manifest.changes in now.indexed or current_name(folder) != manifest.name:
        return Finding("index", "the documents changed while they were checked", is_remark=True)
    if manifest.changes > history.changes:
        said = "the index is newer than the documents, or of another corpus; corpus.db was restored, replaced or copied"
        return Finding("history", f"{said} without corpus.db-wal, and has lost changes")
    said = "the index is of another state than the documents ever had: it, or corpus.db, was replaced"
    return Finding("history", said)


def _check_settings(manifest: Manifest, meta: dict[str, str]) -> Iterator[str]:
    language = meta.get("language", "english")
    settings = {
        "embedder": (manifest.embedder, meta.get("embedder", "")),
        "language": (manifest.language, language),
        "analyser": (manifest.analyser, analyser(language).name),
    }
    for name, (has, should) in settings.items():
        if has != should:
            yield f"the index was made with the {name} {has!r}, not {should!r}"


def _check_editions(index: Index, connection: sqlite3.Connection) -> Iterator[Finding]:
    """Compare which documents are there, in which edition, and which passages each has."""
    has = np.concatenate([_editions(index, place) for place in range(len(index.segments))])
    sql = (
        "SELECT d.number, d.born, c.chunk_id FROM documents d "
        "CROSS JOIN chunks c ON c.doc_id = d.doc_id AND c.level = 2 ORDER BY d.number, c.start"
    )
    documents = groupby(connection.execute(sql), key=itemgetter(0, 1))
    rows = ((*edition, digest_of(*(str(row[2]) for row in leaves))) for edition, leaves in documents)
    should = np.fromiter(rows, dtype=_EDITION)
    distinct = np.unique(has)
    missing, foreign = len(np.setdiff1d(should, distinct)), len(np.setdiff1d(distinct, should))
    if missing:
        yield Finding("index", f"{counted(missing, 'document')} in the database missing or outdated in the index")
    if foreign:
        yield Finding("index", f"{counted(foreign, 'document')} in the index missing or changed in the database")
    if twice := len(has) - len(np.unique(has["number"])):
        yield Finding("index", f"{counted(twice, 'document')} in the index twice")


def _editions(index: Index, place: int) -> NDArray[np.void]:
    """Return number, birth and passages of each document of a segment that has any left."""
    segment, mask = index.segments[place], index.masks(None)[place]
    rows = np.arange(segment.rows) if mask is None else np.flatnonzero(mask)
    of_rows = zip(segment.owners[rows].tolist(), segment.ids[rows].tolist(), strict=True)
    documents = (
        (*segment.documents[owner, :2].tolist(), digest_of(*(row[1].decode("latin-1") for row in leaves)))
        for owner, leaves in groupby(of_rows, key=itemgetter(0))
    )
    return np.fromiter(documents, dtype=_EDITION)

"""Looks through a whole corpus and says what is wrong with it; changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import CorpusDamagedError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.connections import read_only
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_facts import facts_in
from anabranch.store.corpus_folder import SAVE, must_exist, size_of
from anabranch.store.index.manifest import Manifest, current, leftovers
from anabranch.store.index.segment_index import Index
from anabranch.store.schema import checked_version
from anabranch.store.stored_document import ExaminedDocument, dimension_of_most, examined, is_vector, vectors_of
from anabranch.store.writer_protocol import Progress, silent
from anabranch.text.analyzer import analyser
from anabranch.text.plural import counted

_EDITION = np.dtype([("number", np.int64), ("born", np.int64), ("passages", np.int64)])

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


def examine(corpus: StrPath, progress: Progress = silent) -> list[Finding]:
    """Look through a corpus. Nothing is changed, and others may read and write meanwhile.

    Checked: the database's own integrity, that every document is exactly what was written and has its vectors, the
    checksums of the index files, that the index is one of these documents, and what else lies in the folder.

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
            found.extend(chain(_of_database(connection, progress), _of_index(folder, connection)))
    except sqlite3.DatabaseError as error:
        found.append(Finding("database", f"{DATABASE}: {error}"))
    return found + _of_folder(folder)


def _of_folder(folder: Path) -> list[Finding]:
    """Return what no index has, which does no harm: a run that is writing now may need it yet."""
    return [
        Finding("index", f"{path.relative_to(folder)} is in no index ({size_of(path):,} bytes)", is_remark=True)
        for path in leftovers(folder)
    ]


def _of_database(connection: sqlite3.Connection, progress: Progress) -> Iterator[Finding]:
    """Yield what is wrong with the database of a corpus; one document is in memory at a time."""
    yield from _of_pages(connection)
    without = 0
    try:
        (total,) = connection.execute("SELECT count(*) FROM documents").fetchone()
        dimension = dimension_of_most(connection, facts_in(connection).get("embedder", ""))
        for done, each in enumerate(examined(connection), start=1):
            name = each.name or f"document number {each.number}"
            if each.fault is not None:
                yield Finding("document", f"{name}: {each.fault}")
            else:
                without += _without_vector(connection, each, dimension)
            progress("documents", done, total)
    except sqlite3.DatabaseError as error:
        yield Finding("database", f"corpus.db: {error}")
    if without:
        yield Finding(
            "index", f"{counted(without, 'passage')} without a vector of the corpus's embedder, or with a bad one"
        )


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


def _without_vector(connection: sqlite3.Connection, document: ExaminedDocument, dimension: int) -> int:
    """Return how many leaves of a whole document have no vector, or a bad one."""
    try:
        doc_id = document.chunks[0].doc_id if document.chunks else ""
        return sum(vector is None or not is_vector(vector, dimension) for _, vector in vectors_of(connection, doc_id))
    # On a page that is damaged they are as good as gone, and the documents after this one are still to be looked at.
    except sqlite3.DatabaseError:
        return sum(chunk.level == 2 for chunk in document.chunks)


def _of_index(folder: Path, connection: sqlite3.Connection) -> Iterator[Finding]:
    """Yield what is wrong with the current index of a corpus.

    What an undamaged file holds is what was written into it, so documents are compared by their editions alone.
    """
    meta = facts_in(connection)
    try:
        name = current(folder)
        index = Index(folder, name) if name is not None else None
    except CorpusDamagedError as error:
        yield Finding("index", error.message)
        return
    if index is None:
        if connection.execute("SELECT 1 FROM chunks WHERE level = 2 LIMIT 1").fetchone() is not None:
            yield Finding("index", "there is no index yet; the next search makes it", is_remark=True)
        return
    # All checksums: opening looks at the beginnings of the files alone, and a search waits for those of small ones.
    problems = [*index.damage(), *_of_settings(index.manifest, meta)]
    yield from (Finding("index", problem) for problem in problems)
    if index.manifest.changes != int(meta.get("changes", 0)):
        # No fault: a run that was killed before its index was made leaves it so, and a run in progress as well.
        said = "the index is of an earlier state of the documents; the next search brings it up to them"
        yield Finding("index", said, is_remark=True)
    elif not problems:
        yield from _of_editions(index, connection)


def _of_settings(manifest: Manifest, meta: dict[str, str]) -> Iterator[str]:
    language = meta.get("language", "english")
    settings = {
        "embedder": (manifest.embedder, meta.get("embedder", "")),
        "language": (manifest.language, language),
        "analyser": (manifest.analyser, analyser(language).name),
    }
    for name, (has, should) in settings.items():
        if has != should:
            yield f"the index was made with the {name} {has!r}, not {should!r}"


def _of_editions(index: Index, connection: sqlite3.Connection) -> Iterator[Finding]:
    """Compare which documents are there, in which edition, and how many passages each has."""
    has = np.concatenate([_editions(index, place) for place in range(len(index.segments))])
    sql = (
        "SELECT d.number, d.born, count(*) FROM documents d JOIN chunks c ON c.doc_id = d.doc_id AND c.level = 2 "
        "GROUP BY d.number"
    )
    should = np.fromiter(connection.execute(sql), dtype=_EDITION)
    distinct = np.unique(has)
    missing, foreign = len(np.setdiff1d(should, distinct)), len(np.setdiff1d(distinct, should))
    if missing:
        yield Finding("index", f"{counted(missing, 'document')} of the database not in the index as they are")
    if foreign:
        yield Finding("index", f"{counted(foreign, 'document')} of the index not in the database as they are")
    if len(distinct) < len(has):
        yield Finding("index", f"{counted(len(has) - len(distinct), 'document')} in the index twice")


def _editions(index: Index, place: int) -> NDArray[np.void]:
    """Return number, birth and passages of each document of a segment that has any left."""
    segment, mask = index.segments[place], index.masks(None)[place]
    owners = np.asarray(segment.owners)
    passages = np.bincount(owners if mask is None else owners[mask], minlength=len(segment.documents))
    editions = np.zeros(len(passages), dtype=_EDITION)
    editions["number"], editions["born"] = segment.documents[:, 0], segment.documents[:, 1]
    editions["passages"] = passages
    return editions[passages > 0]

"""Looks through an index: its files, and whether it is one of the documents that the database holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import CorpusDamagedError
from anabranch.store.index.manifest import Manifest, current
from anabranch.store.index.segment_index import Index
from anabranch.store.maintenance.database_check import Finding
from anabranch.text.analyzer import analyser
from anabranch.text.plural import counted

_EDITION = np.dtype([("number", np.int64), ("born", np.int64), ("passages", np.int64)])


def of_index(folder: Path, connection: sqlite3.Connection) -> Iterator[Finding]:
    """Yield what is wrong with the current index of a corpus.

    What an undamaged file holds is what was written into it, so documents are compared by their editions alone.

    Args:
        folder: The corpus.
        connection: In a transaction, so that all is of one moment.

    Raises:
        sqlite3.DatabaseError: The database is damaged.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
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

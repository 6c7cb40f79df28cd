"""Looks through an index: its files, and whether it is one of the documents that the database holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import CorpusDamagedError
from anabranch.store.index.bm25 import Inverted
from anabranch.store.index.manifest import Manifest, Tombs, current, read_statistics, read_tombs
from anabranch.store.index.postings import encoded
from anabranch.store.index.segment import Segment
from anabranch.store.index.segment_index import Index
from anabranch.store.index.statistics import Statistics, summed
from anabranch.store.maintenance.database_check import Finding
from anabranch.store.records import embedded_text
from anabranch.store.stored_document import vectors_of
from anabranch.text.analyzer import Analyser, analyser
from anabranch.text.plural import counted

ANALYSED = 200
"""Documents of a segment, evenly spread, whose words are compared as well: analysing all of a large corpus takes
minutes, and they come from the same text as everything else."""

_EDITION = np.dtype([("number", np.int64), ("born", np.int64), ("passages", np.int64)])


def of_index(folder: Path, connection: sqlite3.Connection, seen: Callable[[], None]) -> Iterator[Finding]:
    """Yield what is wrong with the current index of a corpus whose database is sound.

    Args:
        folder: The corpus.
        connection: In a transaction, so that all is of one moment.
        seen: Told of each document.
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
            yield Finding("behind", "there is no index")
        return
    problems = [*index.damage(), *_of_settings(index.manifest, meta)]
    yield from (Finding("index", problem) for problem in problems)
    if index.manifest.changes != int(meta.get("changes", 0)):
        yield Finding("behind", "the index is of an earlier state of the documents")
    elif not problems:
        yield from _Comparison(folder, index, connection, seen).findings()


def of_files(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the files of the current index, where there is no database to compare them with."""
    try:
        name = current(folder)
        problems = Index(folder, name).damage() if name is not None else []
    except CorpusDamagedError as error:
        problems = [error.message]
    yield from (Finding("index", problem) for problem in problems)


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


class _Comparison:
    """An undamaged index of the documents as they are, and those documents."""

    def __init__(self, folder: Path, index: Index, connection: sqlite3.Connection, seen: Callable[[], None]) -> None:
        """Take both; `seen` is told of each document."""
        self._index = index
        self._connection = connection
        self._seen = seen
        self._tombs = read_tombs(folder, index.manifest)
        self._statistics = read_statistics(folder, index.manifest)
        self._analyser = analyser(index.manifest.language)

    def findings(self) -> Iterator[Finding]:
        """Yield every difference; one document's vectors are in memory at a time."""
        differences = list(self._documents())
        yield from differences
        if not differences:
            yield from self._passages()
        yield from self._counts()

    def _documents(self) -> Iterator[Finding]:
        """Compare which documents are there, in which edition, and how many passages each has."""
        has = np.concatenate([_editions(segment, self._tombs[segment.name]) for segment in self._index.segments])
        sql = (
            "SELECT d.number, d.born, count(*) FROM documents d JOIN chunks c ON c.doc_id = d.doc_id AND c.level = 2 "
            "GROUP BY d.number"
        )
        should = np.fromiter(self._connection.execute(sql), dtype=_EDITION)
        distinct = np.unique(has)
        missing, foreign = len(np.setdiff1d(should, distinct)), len(np.setdiff1d(distinct, should))
        if missing:
            yield Finding("index", f"{counted(missing, 'document')} of the database not in the index as they are")
        if foreign:
            yield Finding("index", f"{counted(foreign, 'document')} of the index not in the database as they are")
        if len(distinct) < len(has):
            yield Finding("index", f"{counted(len(has) - len(distinct), 'document')} in the index twice")

    def _passages(self) -> Iterator[Finding]:
        """Compare the passages of each document, their vectors, and the words of some, in order."""
        foreign = reworded = 0
        for segment in self._index.segments:
            alive = _alive_rows(segment, self._tombs[segment.name])
            ends = np.append(segment.documents[1:, 2], segment.rows).tolist()
            step = max(1, len(segment.documents) // ANALYSED)
            for place, (number, _, first) in enumerate(segment.documents.tolist()):
                if not alive[first]:
                    continue
                rows = range(first, ends[place])
                wrong, other = self._compared(segment, rows, number)
                if other:
                    said = f"{counted(other, 'passage')} of {self._name(number)} with another vector than in the index"
                    yield Finding("vectors", said, number)
                if not wrong and place % step == 0:
                    reworded += self._reworded(segment, rows, number)
                foreign += wrong
                self._seen()
        if foreign:
            yield Finding("index", f"{counted(foreign, 'passage')} of the index not those of the database")
        if reworded:
            yield Finding("index", f"{counted(reworded, 'passage')} with other words in the index")

    def _name(self, number: int) -> str:
        (source,) = self._connection.execute("SELECT source FROM documents WHERE number = ?", (number,)).fetchone()
        return str(source)

    def _compared(self, segment: Segment, rows: range, number: int) -> tuple[int, int]:
        """Return how many of a document's passages are others, and how many have another vector."""
        (doc_id,) = self._connection.execute("SELECT doc_id FROM documents WHERE number = ?", (number,)).fetchone()
        foreign = other = 0
        for row, (chunk_id, vector) in zip(rows, vectors_of(self._connection, doc_id), strict=True):
            foreign += bytes(segment.ids[row]) != chunk_id.encode("ascii", "replace")
            other += vector is not None and _vector(segment, row) != vector
        return foreign, other

    def _reworded(self, segment: Segment, rows: range, number: int) -> int:
        sql = (
            "SELECT d.title, c.heading, c.text FROM documents d JOIN chunks c USING (doc_id) "
            "WHERE d.number = ? AND c.level = 2 ORDER BY c.start"
        )
        texts = self._connection.execute(sql, (number,))
        return sum(
            not _has_words(segment, row, self._analyser, embedded_text(*parts))
            for row, parts in zip(rows, texts, strict=True)
        )

    def _counts(self) -> Iterator[Finding]:
        """Compare the statistics, which were brought up to date with every change, with what they are now."""
        segments, manifest, kept = self._index.segments, self._index.manifest, self._statistics
        now = _counted_anew(segments, self._tombs)
        if (now.rows, now.length) != (kept.rows, kept.length):
            yield Finding("index", "the index counts its passages and words wrongly")
        if not np.array_equal(now.histogram, kept.histogram):
            yield Finding("index", "the index counts wrongly in how many passages words are")
        if not all(_has_right_dead_terms(segment, self._tombs[segment.name]) for segment in segments):
            yield Finding("index", "the index counts the words of removed passages wrongly")
        (documents,) = self._connection.execute("SELECT count(*) FROM documents").fetchone()
        (chunks,) = self._connection.execute("SELECT count(*) FROM chunks").fetchone()
        if (documents, chunks) != (manifest.documents, manifest.chunks):
            yield Finding("index", "the index counts documents or chunks otherwise than the database")


def _editions(segment: Segment, tombs: Tombs) -> NDArray[np.void]:
    """Return number, birth and passages of each document of a segment that has any left."""
    owners = np.asarray(segment.owners)[_alive_rows(segment, tombs)]
    passages = np.bincount(owners, minlength=len(segment.documents))
    editions = np.zeros(len(passages), dtype=_EDITION)
    editions["number"], editions["born"] = segment.documents[:, 0], segment.documents[:, 1]
    editions["passages"] = passages
    return editions[passages > 0]


def _vector(segment: Segment, row: int) -> bytes:
    """Return the vector of a row as the database keeps it."""
    shard = next(shard for shard in segment.shards if row < shard.first + shard.rows)
    return bytes(shard.vectors[row - shard.first].tobytes())


def _has_words(segment: Segment, row: int, words: Analyser, text: str) -> bool:
    postings = segment.postings
    should = words.terms(text)
    numbers = postings.forward[postings.forward_starts[row] : postings.forward_starts[row + 1]]
    has = {postings.vocabulary[number] for number in numbers.tolist()}
    return len(should) == postings.lengths[row] and has == {encoded(term) for term in should}


def _alive_rows(segment: Segment, tombs: Tombs) -> NDArray[np.bool_]:
    """Return which rows of a segment are alive, shape (rows,)."""
    alive = np.ones(segment.rows, dtype=np.bool_)
    alive[tombs.rows] = False
    return alive


def _counted_anew(segments: Sequence[Segment], tombs: dict[str, Tombs]) -> Statistics:
    """Return the statistics of the rows that are alive.

    Args:
        segments: All segments of an index.
        tombs: Their dead rows, by name.
    """
    rows = length = 0
    for segment in segments:
        alive = _alive_rows(segment, tombs[segment.name])
        rows += int(np.count_nonzero(alive))
        length += int(np.sum(np.asarray(segment.postings.lengths)[alive], dtype=np.int64))
    inverted = (Inverted(segment.postings, tombs[segment.name].dead, 0) for segment in segments)
    return Statistics(rows, length, summed([each.frequencies() for each in inverted]))


def _has_right_dead_terms(segment: Segment, tombs: Tombs) -> bool:
    """Tell whether the terms that count for nothing are those of the dead rows."""
    terms, counts = segment.postings.terms_of(tombs.rows)
    return np.array_equal(terms, tombs.dead.terms) and np.array_equal(counts, tombs.dead.counts)

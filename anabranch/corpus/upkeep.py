"""Care of a corpus: check it, make its indexes anew, embed it anew, remove documents."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from anabranch.corpus.lock import writing
from anabranch.corpus.passages import read_only
from anabranch.corpus.rows import embedded_text
from anabranch.corpus.segments.generation import Manifest, current
from anabranch.corpus.segments.index import Index
from anabranch.corpus.segments.publishing import publish
from anabranch.corpus.truth import DATABASE, Truth
from anabranch.errors import CorpusDamagedError, CorpusEmptyError, CorpusNotFoundError, UserError
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, settled_spec
from anabranch.models.embedding import Embedder

BATCH = 128

Told = Callable[[str, int, int], None]
"""Told the stage ('passages' or 'index'), how much is done and how much there is."""


def verify(folder: Path) -> list[str]:
    """Return what is wrong with a corpus, one line each; an empty list means sound. Nothing is changed.

    Checked: the database's own integrity, that every leaf has its vector, that leaves tile their documents, the
    checksums of the index files, and that index and database hold the same documents.

    Raises:
        CorpusNotFoundError: There is no corpus there.
    """
    _must_exist(folder)
    try:
        with closing(read_only(folder / DATABASE)) as connection:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            problems += _gaps(connection)
            (leaves,) = connection.execute("SELECT count(*) FROM chunks WHERE level = 2").fetchone()
            meta = dict(connection.execute("SELECT name, value FROM meta"))
    except sqlite3.DatabaseError as error:
        return [f"{DATABASE}: {error}"]
    return problems + _index_problems(folder, leaves, int(meta.get("changes", 0)))


def _gaps(connection: sqlite3.Connection) -> list[str]:
    problems = []
    (missing,) = _first(
        connection,
        "SELECT count(*) FROM chunks c LEFT JOIN vectors v ON v.vector_key = c.vector_key AND v.embedder = "
        "(SELECT value FROM meta WHERE name = 'embedder') WHERE c.level = 2 AND v.vector IS NULL",
    )
    if missing:
        problems.append(f"{missing} passages have no vector of the corpus's embedder")
    (torn,) = _first(
        connection,
        'SELECT count(*) FROM (SELECT start, lag("end", 1, 0) OVER (PARTITION BY doc_id ORDER BY start) AS before '
        "FROM chunks WHERE level = 2) WHERE start != before",
    )
    if torn:
        problems.append(f"{torn} passages do not follow on the one before")
    (orphans,) = _first(
        connection,
        "SELECT count(*) FROM chunks c WHERE c.parent_id IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM chunks p WHERE p.chunk_id = c.parent_id)",
    )
    if orphans:
        problems.append(f"{orphans} chunks have lost their parent")
    return problems


def _first(connection: sqlite3.Connection, sql: str) -> tuple[int, ...]:
    row: tuple[int, ...] = connection.execute(sql).fetchone()
    return row


def _index_problems(folder: Path, leaves: int, changes: int) -> list[str]:
    try:
        name = current(folder)
        if name is None:
            return ["there is no index"] if leaves else []
        index = Index(folder, name)
    except CorpusDamagedError as error:
        return [error.message]
    manifest, problems = index.manifest, index.damage()
    if manifest.leaves != leaves:
        problems.append(f"the index holds {manifest.leaves} passages, the database {leaves}: `corpus rebuild` mends it")
    elif manifest.changes != changes:
        problems.append("the index is of an earlier state of the documents")
    return problems


def rebuild(
    folder: Path,
    *,
    embedder: str | None = None,
    base_url: str | None = None,
    progress: Told | None = None,
) -> Manifest:
    """Make the indexes anew from the database; with `embedder`, embed every passage with another one first.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusEmptyError: There is nothing to index.
        CorpusLockedError: Another process is writing.
    """
    _must_exist(folder)
    with writing(folder), closing(Truth(folder)) as truth:
        spec = settled_spec(embedder or truth.meta("spec") or DEFAULT_EMBEDDER)
        url = base_url or (truth.meta("base_url") if embedder is None else None) or None
        model = load_embedder(spec, url)
        _embed_missing(truth, model, progress)
        with truth.transaction() as changing:
            if truth.meta("embedder") != model.name:
                changing()
            truth.set_meta("embedder", model.name)
            truth.set_meta("spec", spec)
            truth.set_meta("base_url", url or "")
        indexed = partial(progress, "index") if progress else None
        manifest = publish(folder, truth, anew=True, progress=indexed)
        truth.forget_unused(everything=True)
    if manifest is None:
        msg = f"The corpus at {folder} holds no passage."
        raise CorpusEmptyError(msg, hint=f"Add documents: anabranch ingest YOUR_FOLDER --corpus {folder}")
    return manifest


def _embed_missing(truth: Truth, model: Embedder, progress: Told | None) -> None:
    """Embed what has no vector of this embedder yet; kept batch by batch, so that a second try goes on from there."""
    without = (
        "FROM chunks c JOIN documents d USING (doc_id) LEFT JOIN vectors v "
        "ON v.vector_key = c.vector_key AND v.embedder = ? WHERE c.level = 2 AND v.vector_key IS NULL"
    )
    (total,) = truth.one(f"SELECT count(DISTINCT c.vector_key) {without}", model.name)
    done = 0
    sql = f"SELECT c.vector_key, d.title, c.heading, c.text {without} GROUP BY c.vector_key LIMIT ?"
    while rows := truth.all(sql, model.name, BATCH):
        texts = {key: embedded_text(*parts) for key, *parts in rows}
        truth.add_vectors(list(texts), model.embed(list(texts.values())), model.name)
        done += len(texts)
        if progress is not None:
            progress("passages", done, total)


def remove(folder: Path, sources: Sequence[str]) -> int:
    """Remove documents and make the indexes anew; return how many there were.

    Args:
        folder: The corpus.
        sources: Each the source of a document, or of a file that holds several, or a shell pattern.

    Raises:
        UserError: A source names no document; then nothing is removed.
        CorpusLockedError: Another process is writing.
    """
    _must_exist(folder)
    with writing(folder), closing(Truth(folder)) as truth:
        doomed = list(dict.fromkeys(doc_id for source in sources for doc_id in _named(truth, source)))
        removed = truth.remove_documents(doomed)
        truth.forget_unused()
        publish(folder, truth)
        return removed


def _named(truth: Truth, source: str) -> list[str]:
    """Return the documents of that name; a name that looks like a pattern is a name first."""
    for test in ("d.source = ?", "f.source = ?", "d.source GLOB ?"):
        sql = f"SELECT d.doc_id FROM documents d LEFT JOIN files f USING (path) WHERE {test}"  # noqa: S608  # constants
        if found := truth.all(sql, source):
            return [row[0] for row in found]
    raise UserError(f"No document has the source {source!r}.", hint="`anabranch corpus stats` lists the sources.")


def _must_exist(folder: Path) -> None:
    if not (folder / DATABASE).is_file():
        msg = f"There is no corpus at {folder}."
        raise CorpusNotFoundError(msg, hint=f"Make one: anabranch ingest YOUR_FOLDER --corpus {folder}")

"""Rebuilds what is derived from the documents of a corpus: missing vectors, and its indexes, as small as possible."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from functools import partial

from anabranch.chunking.leaf_unit import LEAF_UNIT, choose_unit, unit_for
from anabranch.errors import CorpusEmptyError, SettingsError
from anabranch.models.embedder import Embedder
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, resolve_spec
from anabranch.store.corpus_address import StrPath, shown_address
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_facts import FILES
from anabranch.store.corpus_folder import require_corpus
from anabranch.store.corpus_snapshot import Overview
from anabranch.store.index.manifest import Manifest, sweep
from anabranch.store.index.publisher import publish
from anabranch.store.maintenance.corpus_list import overview
from anabranch.store.records import embedded_text
from anabranch.store.stored_document import find_dimension, is_intact, is_vector
from anabranch.store.stores import rebuilding_store
from anabranch.store.write_lock import hold_write_lock
from anabranch.store.writer_protocol import Progress, silent
from anabranch.text.amounts import without_amounts

# Stored batch by batch: a hosted embedder may fail in the middle, and finished vectors are paid for.
BATCH = 128

_log = logging.getLogger(__name__)


def rebuild(
    corpus: StrPath,
    *,
    embedder: str | None = None,
    base_url: str | None = None,
    wait: float = 0.0,
    progress: Progress = silent,
) -> Manifest:
    """Rebuild the indexes from the database; with `embedder`, embed every passage with it first.

    Afterwards no file of the corpus holds removed content, and unused disk space is freed.

    Args:
        corpus: The corpus.
        embedder: The new embedder; None for that of the corpus.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        wait: Seconds to wait for another writer.
        progress: Called with the progress.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusEmptyError: There is nothing to index.
        CorpusLockedError: Another process is writing.
        CorpusDamagedError: A document is not whole, or the database is damaged.
    """
    folder = require_corpus(corpus)
    with hold_write_lock(folder, wait=wait), closing(CorpusDatabase(folder)) as database:
        # SQLite's own indexes are derived, too; a damaged page raises here.
        database.connection.execute("REINDEX")
        spec = resolve_spec(embedder or database.meta("spec") or DEFAULT_EMBEDDER)
        url = base_url or (database.meta("base_url") if embedder is None else None) or None
        model = load_embedder(spec, url, progress)
        _forget_bad(database, model.name)
        _embed_missing(database, model, progress)
        with database.transaction() as changing:
            # Only another embedder counts as a change: with the same vectors, open indexes stay valid.
            if database.meta("embedder") != model.name:
                changing()
                # Further leaves are those that a new corpus would get: the former embedder may be gone.
                database.set_meta(LEAF_UNIT, unit_for(model))
            # Records of files that a damaged disk took are in the report of `verify` until now.
            database.set_meta(FILES, str(database.one("SELECT count(*) FROM files")[0]))
            database.set_meta("embedder", model.name)
            database.set_meta("spec", spec)
            database.set_meta("base_url", url or "")
        manifest = publish(database, anew=True, progress=partial(progress, "index"))
        # The former index holds words and vectors of removed documents: remove it now, not with the next change.
        sweep(folder, 1)
        database.forget_unused(everything=True)
        _compact(database)
        if not choose_unit(database.meta(LEAF_UNIT), model, is_empty=manifest is None):
            _log.warning(
                "The leaves of %s are measured in tokens of its embedder. To get the leaves that all embedders share, "
                "ingest its files into a new corpus.",
                folder,
            )
    if manifest is None:
        msg = f"The corpus at {folder} holds no passage."
        raise CorpusEmptyError(msg, hint=f"Add documents: anabranch ingest YOUR_FOLDER --corpus {folder}")
    return manifest


def renew(corpus: StrPath, *, embedder: str | None, base_url: str | None, wait: float, progress: Progress) -> Overview:
    """Rebuild a corpus in any store, as `rebuild` does for a folder.

    Raises:
        SettingsError: Another embedder is asked for, and the corpus is in a database.
        AnabranchError: As `rebuild`.
    """
    store = rebuilding_store(corpus)
    if store is None:
        rebuild(corpus, embedder=embedder, base_url=base_url, wait=wait, progress=progress)
    elif embedder or base_url:
        msg = f"The passages of {shown_address(corpus)} cannot be embedded again in place."
        hint = "Export it without vectors and import that into another corpus: anabranch corpus import --embedder NAME"
        raise SettingsError(msg, hint=hint)
    else:
        store.rebuild(corpus, wait=wait, progress=progress)
    return overview(corpus)


def _forget_bad(database: CorpusDatabase, embedder: str) -> None:
    """Drop invalid vectors, so that their passages are embedded again."""
    dimension = find_dimension(database.connection, embedder)
    rows = database.connection.execute("SELECT * FROM vectors WHERE embedder = ?", (embedder,))
    bad = [(row[0], embedder) for row in rows if not (is_intact(row) and is_vector(row[2], dimension))]
    with database.transaction():
        database.connection.executemany("DELETE FROM vectors WHERE vector_key = ? AND embedder = ?", bad)


def _compact(database: CorpusDatabase) -> None:
    try:
        database.connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        # VACUUM writes a second copy of the database. Without room for that, the corpus stays valid and as large as
        # before.
        _log.warning("The database file could not be compacted: %s", error)
    database.empty_log()


def _embed_missing(database: CorpusDatabase, model: Embedder, progress: Progress) -> None:
    """Embed passages without a vector, stored batch by batch, so that a second try continues."""
    without = (
        "FROM chunks c JOIN documents d USING (doc_id) LEFT JOIN vectors v "
        "ON v.vector_key = c.vector_key AND v.embedder = ? WHERE c.level = 2 AND v.vector_key IS NULL"
    )
    (total,) = database.one(f"SELECT count(DISTINCT c.vector_key) {without}", model.name)
    done, after = 0, ""
    columns = "c.vector_key, d.title, c.heading, c.text"
    sql = f"SELECT {columns} {without} AND c.vector_key > ? GROUP BY c.vector_key LIMIT ?"
    while rows := database.all(sql, model.name, after, BATCH):
        after = rows[-1][0]
        texts = {key: embedded_text(*parts) for key, *parts in rows}
        database.add_vectors(list(texts), model.embed(list(map(without_amounts, texts.values()))), model.name)
        done += len(texts)
        progress("passages", done, total)

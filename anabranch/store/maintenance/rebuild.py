"""Makes the indexes of a corpus anew, and embeds what has no vector."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from anabranch.errors import CorpusEmptyError
from anabranch.models.embedder import Embedder
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, settled_spec
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_folder import CorpusProgress, must_exist, silent
from anabranch.store.index.manifest import Manifest
from anabranch.store.index.publisher import publish
from anabranch.store.records import embedded_text
from anabranch.store.write_lock import writing

BATCH = 128


def rebuild(
    corpus: StrPath,
    *,
    embedder: str | None = None,
    base_url: str | None = None,
    wait: float = 0.0,
    progress: CorpusProgress = silent,
) -> Manifest:
    """Make the indexes anew from the database; with `embedder`, embed every passage with another one first.

    Args:
        corpus: The corpus.
        embedder: How to embed; None for what the corpus was made with.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        wait: Seconds to wait for another writer.
        progress: Told how far it is.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusEmptyError: There is nothing to index.
        CorpusLockedError: Another process is writing.
    """
    folder = must_exist(corpus)
    with writing(folder, wait=wait), closing(CorpusDatabase(folder)) as database:
        spec = settled_spec(embedder or database.meta("spec") or DEFAULT_EMBEDDER)
        url = base_url or (database.meta("base_url") if embedder is None else None) or None
        model = load_embedder(spec, url)
        embed_missing(database, model, progress)
        with database.transaction() as changing:
            if database.meta("embedder") != model.name:
                changing()
            database.set_meta("embedder", model.name)
            database.set_meta("spec", spec)
            database.set_meta("base_url", url or "")
        manifest = publish(database, anew=True, progress=partial(progress, "index"))
        database.forget_unused(everything=True)
    if manifest is None:
        msg = f"The corpus at {folder} holds no passage."
        raise CorpusEmptyError(msg, hint=f"Add documents: anabranch ingest YOUR_FOLDER --corpus {folder}")
    return manifest


def embed_missing(database: CorpusDatabase, model: Embedder, progress: CorpusProgress) -> int:
    """Embed what has no vector of this embedder yet; kept batch by batch, so that a second try goes on from there.

    Returns:
        How many distinct texts those were.
    """
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
        database.add_vectors(list(texts), model.embed(list(texts.values())), model.name)
        done += len(texts)
        progress("passages", done, total)
    return done

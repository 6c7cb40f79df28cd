"""Makes the indexes of a corpus anew, and embeds what has no vector."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial

from anabranch.errors import CorpusEmptyError
from anabranch.models.embedder import Embedder
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, settled_spec
from anabranch.store.corpus_folder import must_exist
from anabranch.store.corpus_writer import Truth
from anabranch.store.index.manifest import Manifest
from anabranch.store.index.publisher import publish
from anabranch.store.path_arguments import Given
from anabranch.store.records import embedded_text
from anabranch.store.write_lock import writing

BATCH = 128

Told = Callable[[str, int, int], None]
"""Told the stage ('passages' or 'index'), how much is done and how much there is."""


def rebuild(
    corpus: Given,
    *,
    embedder: str | None = None,
    base_url: str | None = None,
    wait: float = 0.0,
    progress: Told | None = None,
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
    with writing(folder, wait=wait), closing(Truth(folder)) as truth:
        spec = settled_spec(embedder or truth.meta("spec") or DEFAULT_EMBEDDER)
        url = base_url or (truth.meta("base_url") if embedder is None else None) or None
        model = load_embedder(spec, url)
        embed_missing(truth, model, progress)
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


def embed_missing(truth: Truth, model: Embedder, progress: Told | None) -> int:
    """Embed what has no vector of this embedder yet; kept batch by batch, so that a second try goes on from there.

    Returns:
        How many distinct texts those were.
    """
    without = (
        "FROM chunks c JOIN documents d USING (doc_id) LEFT JOIN vectors v "
        "ON v.vector_key = c.vector_key AND v.embedder = ? WHERE c.level = 2 AND v.vector_key IS NULL"
    )
    (total,) = truth.one(f"SELECT count(DISTINCT c.vector_key) {without}", model.name)
    done, after = 0, ""
    columns = "c.vector_key, d.title, c.heading, c.text"
    sql = f"SELECT {columns} {without} AND c.vector_key > ? GROUP BY c.vector_key LIMIT ?"
    while rows := truth.all(sql, model.name, after, BATCH):
        after = rows[-1][0]
        texts = {key: embedded_text(*parts) for key, *parts in rows}
        truth.add_vectors(list(texts), model.embed(list(texts.values())), model.name)
        done += len(texts)
        if progress is not None:
            progress("passages", done, total)
    return done

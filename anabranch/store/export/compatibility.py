"""Decides whether an export and a corpus go together, and what a new corpus is made with."""

from __future__ import annotations

import json

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES
from anabranch.errors import EmbedderMismatchError, SettingsError
from anabranch.models.embedder import Embedder
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, settled_spec
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.export.json_lines import Header
from anabranch.store.index.segment_builder import dimension_of


def settled(database: CorpusDatabase, header: Header, spec: str, base_url: str | None) -> Embedder:
    """Return the embedder of the corpus; a new corpus gets the settings of the export.

    The export does not say where words are sent to be embedded: a hosted embedder has to be named by whoever imports.

    Args:
        database: The corpus.
        header: The first line of the export.
        spec: The embedder as it was asked for, empty for none.
        base_url: The server that was asked for.

    Raises:
        EmbedderMismatchError: The export has vectors of another embedder, or its embedder has to be named.
        SettingsError: The corpus has other sizes or another language.
    """
    is_empty = database.one("SELECT 1 FROM documents LIMIT 1") is None
    model_spec = spec or database.meta("spec") or DEFAULT_EMBEDDER
    url = base_url or (database.meta("base_url") if not spec else None) or None
    model = load_embedder(model_spec, url)
    _check_embedder(database, header, model, named=bool(spec), is_empty=is_empty)
    if not is_empty:
        _check_cut(database, header)
    with database.transaction():
        database.set_meta("embedder", model.name)
        database.set_meta("spec", settled_spec(model_spec))
        database.set_meta("base_url", url or "")
        if is_empty:
            database.set_meta("sizes", json.dumps(header.sizes or DEFAULT_SIZES))
            database.set_meta("language", header.language)
    return model


def _check_embedder(database: CorpusDatabase, header: Header, model: Embedder, *, named: bool, is_empty: bool) -> None:
    if not is_empty and database.meta("embedder") != model.name:
        msg = f"The corpus was made with the embedder {database.meta('embedder')!r}, not {model.name!r}."
        raise EmbedderMismatchError(msg, hint="Leave --embedder out.")
    if header.vectors and header.embedder != model.name:
        msg = f"The export has vectors of the embedder {header.embedder!r}, the corpus has those of {model.name!r}."
        raise EmbedderMismatchError(msg, hint=f"Export it without --vectors, or name its embedder: {_named(header)}")
    if header.vectors and not is_empty and dimension_of(database) not in (0, header.dimension):
        msg = f"The export has vectors of length {header.dimension}, the corpus of length {dimension_of(database)}."
        raise EmbedderMismatchError(msg, hint="Export it without --vectors.")
    if is_empty and not named and header.embedder not in ("", model.name):
        msg = f"The exported corpus was made with the embedder {header.embedder!r}."
        raise EmbedderMismatchError(msg, hint=f"Name the embedder to use: {_named(header)} or --embedder minilm.")


def _named(header: Header) -> str:
    return f"--embedder {header.embedder}" if header.embedder.startswith("openai:") else "--embedder FOLDER"


def _check_cut(database: CorpusDatabase, header: Header) -> None:
    sizes, language = json.loads(database.meta("sizes") or "null"), database.meta("language") or "english"
    if header.sizes is not None and sizes is not None and list(header.sizes) != sizes:
        msg = f"The exported corpus was cut into chunks of {list(header.sizes)}, this one into {sizes}."
        raise SettingsError(msg, hint="Import it into a new corpus.")
    if header.language != language:
        msg = f"The exported corpus is of the language {header.language!r}, this one of {language!r}."
        raise SettingsError(msg, hint="Import it into a new corpus.")

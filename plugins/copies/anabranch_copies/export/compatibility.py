"""Decides whether an export and a corpus go together, and what a new corpus is made with."""

from __future__ import annotations

import json

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES
from anabranch.errors import EmbedderMismatchError, SettingsError
from anabranch.models.embedder import Embedder
from anabranch.store.corpus_embedder import embedder_of
from anabranch.store.writer_protocol import CorpusWriter
from anabranch_copies.export.json_lines import Header


def settled(database: CorpusWriter, header: Header, spec: str, base_url: str | None) -> Embedder:
    """Return the embedder of the corpus; a new corpus gets the settings of the export.

    The export does not say where words are sent to be embedded: a hosted embedder has to be named by whoever imports.

    Raises:
        EmbedderMismatchError: The export has vectors of another embedder, or its embedder has to be named.
        SettingsError: The corpus has other sizes or another language.
    """
    embedder = embedder_of(database, spec, base_url)
    facts, is_empty = embedder.facts, database.is_empty()
    _check_embedder(database, header, embedder.model, named=bool(spec), is_empty=is_empty)
    if is_empty:
        facts |= {"sizes": json.dumps(header.sizes or DEFAULT_SIZES), "language": header.language}
    else:
        _check_cut(database, header)
    database.keep_meta(facts)
    return embedder.model


def _check_embedder(database: CorpusWriter, header: Header, model: Embedder, *, named: bool, is_empty: bool) -> None:
    # Checked before anything is written: a corpus with vectors of two models cannot be told from a sound one.
    if header.vectors and header.embedder != model.name:
        msg = f"The export has vectors of the embedder {header.embedder!r}, the corpus has those of {model.name!r}."
        raise EmbedderMismatchError(msg, hint=f"Export it without --vectors, or name its embedder: {_named(header)}")
    if header.vectors and not is_empty and database.dimension() not in (0, header.dimension):
        msg = f"The export has vectors of length {header.dimension}, the corpus of length {database.dimension()}."
        raise EmbedderMismatchError(msg, hint="Export it without --vectors.")
    # A file from somebody else must not decide to which server the words of this machine are sent.
    if is_empty and not named and header.embedder not in ("", model.name):
        msg = f"The exported corpus was made with the embedder {header.embedder!r}."
        raise EmbedderMismatchError(msg, hint=f"Name the embedder to use: {_named(header)} or --embedder minilm.")


def _named(header: Header) -> str:
    return f"--embedder {header.embedder}" if header.embedder.startswith("openai:") else "--embedder FOLDER"


def _check_cut(database: CorpusWriter, header: Header) -> None:
    sizes, language = json.loads(database.meta("sizes") or "null"), database.meta("language") or "english"
    if header.sizes is not None and sizes is not None and list(header.sizes) != sizes:
        msg = f"The exported corpus was cut into chunks of {list(header.sizes)}, this one into {sizes}."
        raise SettingsError(msg, hint="Import it into a new corpus.")
    # Stemmed by two rules, the same word would be two terms, and neither would find the other.
    if header.language != language:
        msg = f"The exported corpus is of the language {header.language!r}, this one of {language!r}."
        raise SettingsError(msg, hint="Import it into a new corpus.")

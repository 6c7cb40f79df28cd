"""Check whether an export fits a corpus, and choose the settings of a new corpus."""

from __future__ import annotations

import json

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES
from anabranch.chunking.leaf_unit import LEAF_UNIT
from anabranch.errors import EmbedderMismatchError, SettingsError
from anabranch.models.embedder import Embedder
from anabranch.store.corpus_embedder import embedder_of
from anabranch.store.writer_protocol import CorpusWriter
from anabranch_copies.export.json_lines import Header


def resolve_embedder(database: CorpusWriter, header: Header, spec: str, base_url: str | None) -> Embedder:
    """Return the embedder of the corpus; a new corpus gets the settings of the export.

    An export never chooses a server for embedding: the user who imports must name a hosted embedder.

    Raises:
        EmbedderMismatchError: The export has vectors of another embedder, or the embedder must be named.
        SettingsError: The corpus has other sizes or another language.
    """
    embedder = embedder_of(database, spec, base_url)
    facts, is_empty = embedder.facts, database.is_empty()
    _check_embedder(database, header, embedder.model, named=bool(spec), is_empty=is_empty)
    if is_empty:
        facts |= {"sizes": json.dumps(header.sizes or DEFAULT_SIZES), "language": header.language}
        facts |= {LEAF_UNIT: header.leaf_unit}
    else:
        _check_cut(database, header)
    database.keep_meta(facts)
    return embedder.model


def _check_embedder(database: CorpusWriter, header: Header, model: Embedder, *, named: bool, is_empty: bool) -> None:
    # Checked before anything is written, because mixed vectors of two models cannot be detected later.
    if header.vectors and header.embedder != model.name:
        msg = f"The export has vectors of the embedder {header.embedder!r}, the corpus has those of {model.name!r}."
        raise EmbedderMismatchError(
            msg, hint=f"Export it without --vectors, or name its embedder: {_embedder_option(header)}"
        )
    if header.vectors and not is_empty and database.dimension() not in (0, header.dimension):
        msg = f"The export has vectors of length {header.dimension}, the corpus of length {database.dimension()}."
        raise EmbedderMismatchError(msg, hint="Export it without --vectors.")
    # Another person's file must not choose the server that gets the text of this machine.
    if is_empty and not named and header.embedder not in ("", model.name):
        msg = f"The exported corpus was made with the embedder {header.embedder!r}."
        raise EmbedderMismatchError(
            msg, hint=f"Name the embedder to use: {_embedder_option(header)} or --embedder minilm."
        )


def _embedder_option(header: Header) -> str:
    return f"--embedder {header.embedder}" if header.embedder.startswith("openai:") else "--embedder FOLDER"


def _check_cut(database: CorpusWriter, header: Header) -> None:
    sizes, language = json.loads(database.meta("sizes") or "null"), database.meta("language") or "english"
    if header.sizes is not None and sizes is not None and list(header.sizes) != sizes:
        msg = f"The exported corpus was cut into chunks of {list(header.sizes)}, this one into {sizes}."
        raise SettingsError(msg, hint="Import it into a new corpus.")
    # With two stemmers, the same word would be two different terms.
    if header.language != language:
        msg = f"The exported corpus has the language {header.language!r}, this one {language!r}."
        raise SettingsError(msg, hint="Import it into a new corpus.")

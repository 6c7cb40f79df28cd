"""Decides whether an export and a corpus go together, and what a new corpus is made with."""

from __future__ import annotations

import json

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES
from anabranch.errors import EmbedderMismatchError, SettingsError
from anabranch.models.embedder import Embedder
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, settled_spec
from anabranch.store.corpus_writer import Truth
from anabranch.store.export.json_lines import Header
from anabranch.store.index.segment_builder import dimension_of


def settled(truth: Truth, header: Header, spec: str, base_url: str | None) -> Embedder:
    """Return the embedder of the corpus; a new corpus gets the settings of the export.

    The export does not say where words are sent to be embedded: a hosted embedder has to be named by whoever imports.

    Args:
        truth: The corpus.
        header: The first line of the export.
        spec: The embedder as it was asked for, empty for none.
        base_url: The server that was asked for.

    Raises:
        EmbedderMismatchError: The export has vectors of another embedder, or its embedder has to be named.
        SettingsError: The corpus has other sizes or another language.
    """
    is_empty = truth.one("SELECT 1 FROM documents LIMIT 1") is None
    model_spec = spec or truth.meta("spec") or DEFAULT_EMBEDDER
    url = base_url or (truth.meta("base_url") if not spec else None) or None
    model = load_embedder(model_spec, url)
    _check_embedder(truth, header, model, named=bool(spec), is_empty=is_empty)
    if not is_empty:
        _check_cut(truth, header)
    with truth.transaction():
        truth.set_meta("embedder", model.name)
        truth.set_meta("spec", settled_spec(model_spec))
        truth.set_meta("base_url", url or "")
        if is_empty:
            truth.set_meta("sizes", json.dumps(header.sizes or DEFAULT_SIZES))
            truth.set_meta("language", header.language)
    return model


def _check_embedder(truth: Truth, header: Header, model: Embedder, *, named: bool, is_empty: bool) -> None:
    if not is_empty and truth.meta("embedder") != model.name:
        msg = f"The corpus was made with the embedder {truth.meta('embedder')!r}, not {model.name!r}."
        raise EmbedderMismatchError(msg, hint="Leave --embedder out.")
    if header.vectors and header.embedder != model.name:
        msg = f"The export has vectors of the embedder {header.embedder!r}, the corpus has those of {model.name!r}."
        raise EmbedderMismatchError(msg, hint=f"Export it without --vectors, or name its embedder: {_named(header)}")
    if header.vectors and not is_empty and dimension_of(truth) not in (0, header.dimension):
        msg = f"The export has vectors of length {header.dimension}, the corpus of length {dimension_of(truth)}."
        raise EmbedderMismatchError(msg, hint="Export it without --vectors.")
    if is_empty and not named and header.embedder not in ("", model.name):
        msg = f"The exported corpus was made with the embedder {header.embedder!r}."
        raise EmbedderMismatchError(msg, hint=f"Name the embedder to use: {_named(header)} or --embedder minilm.")


def _named(header: Header) -> str:
    return f"--embedder {header.embedder}" if header.embedder.startswith("openai:") else "--embedder FOLDER"


def _check_cut(truth: Truth, header: Header) -> None:
    sizes, language = json.loads(truth.meta("sizes") or "null"), truth.meta("language") or "english"
    if header.sizes is not None and sizes is not None and list(header.sizes) != sizes:
        msg = f"The exported corpus was cut into chunks of {list(header.sizes)}, this one into {sizes}."
        raise SettingsError(msg, hint="Import it into a new corpus.")
    if header.language != language:
        msg = f"The exported corpus is of the language {header.language!r}, this one of {language!r}."
        raise SettingsError(msg, hint="Import it into a new corpus.")

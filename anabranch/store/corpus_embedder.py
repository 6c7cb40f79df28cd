"""The embedder of a corpus that is written to: the first run decides it, and later ones have to keep to it."""

from __future__ import annotations

from typing import NamedTuple

from anabranch.errors import EmbedderMismatchError
from anabranch.models.embedder import Embedder
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, settled_spec
from anabranch.store.writer_protocol import CorpusWriter


class CorpusEmbedder(NamedTuple):
    """An embedder, and how it was asked for."""

    model: Embedder
    spec: str
    base_url: str

    @property
    def facts(self) -> dict[str, str]:
        """What a corpus keeps of it (`CorpusWriter.keep_meta`)."""
        return {"embedder": self.model.name, "spec": settled_spec(self.spec), "base_url": self.base_url}


def embedder_of(writer: CorpusWriter, spec: str, base_url: str | None) -> CorpusEmbedder:
    """Return the embedder of a corpus; nothing is kept of it yet.

    Args:
        writer: The corpus.
        spec: The embedder as it was asked for; empty for the one the corpus has, or the bundled one in a new corpus.
        base_url: The server that was asked for; None for the one the corpus has.

    Raises:
        EmbedderMismatchError: The corpus holds documents of another one.
        SettingsError: There is no such embedder.
    """
    # What was asked for goes before what the corpus has, so that asking for the wrong one is refused below and not
    # passed over.
    spec = spec or writer.meta("spec") or DEFAULT_EMBEDDER
    url = base_url or writer.meta("base_url") or ""
    model = load_embedder(spec, url or None)
    # Vectors of two models lie in two spaces: cosines between them are noise that looks like scores. In an empty corpus
    # there is nothing to mix yet, so a first run that failed can be repeated with another embedder.
    if not writer.is_empty() and writer.meta("embedder") != model.name:
        msg = f"The corpus was made with the embedder {writer.meta('embedder')!r}, not {model.name!r}."
        hint = f"Leave --embedder out, or embed it anew: anabranch corpus rebuild --embedder {spec}"
        raise EmbedderMismatchError(msg, hint=hint)
    return CorpusEmbedder(model, spec, url)

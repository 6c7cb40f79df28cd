"""The embedder of a corpus that is written to: the first run decides it, later ones keep to it, and all embed alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from anabranch.errors import AnabranchError, ClientFaultError, EmbedderMismatchError, SettingsError
from anabranch.models.embedder import Embedder
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder, resolve_spec
from anabranch.readers.faults import describe_fault
from anabranch.safety.operator import read_variable
from anabranch.store.writer_protocol import CorpusWriter, Progress, silent
from anabranch.text.amounts import without_amounts

EMBEDDED_LEAVES = 64
"""Leaves per call of the embedder. Each call's vectors are stored at once: a kill costs seconds, and no vector is paid
for twice."""


class CorpusEmbedder(NamedTuple):
    """An embedder, with the settings that chose it."""

    model: Embedder
    spec: str
    base_url: str

    @property
    def facts(self) -> dict[str, str]:
        """The facts that a corpus keeps of its embedder (`CorpusWriter.keep_meta`)."""
        return {"embedder": self.model.name, "spec": resolve_spec(self.spec), "base_url": self.base_url}


def usual_embedder() -> str:
    """Return the embedder of new corpora: what ANABRANCH_EMBEDDER says, else the bundled one."""
    # `ingest` in a program must not settle what the variables of its later questions are.
    return read_variable("embedder") or DEFAULT_EMBEDDER


def embedder_of(writer: CorpusWriter, spec: str, base_url: str | None, progress: Progress = silent) -> CorpusEmbedder:
    """Return the embedder of a corpus, without storing it yet.

    Args:
        writer: The corpus.
        spec: The requested embedder; empty for that of the corpus, or the usual one in a new corpus.
        base_url: The requested server; None for that of the corpus.
        progress: Called with the progress where the embedder is made first.

    Raises:
        EmbedderMismatchError: The corpus holds documents of another one.
        SettingsError: There is no such embedder.
    """
    # The request comes before the corpus's own, so that a wrong request is refused below instead of ignored.
    spec = spec or writer.meta("spec") or usual_embedder()
    url = base_url or writer.meta("base_url") or ""
    model = load_embedder(spec, url or None, progress)
    # Vectors of two models lie in two spaces: cosines between them are noise that looks like scores. In an empty corpus
    # there is nothing to mix yet, so a first run that failed can be repeated with another embedder.
    if not writer.is_empty() and writer.meta("embedder") != model.name:
        msg = f"The corpus was made with the embedder {writer.meta('embedder')!r}, not {model.name!r}."
        hint = f"Leave --embedder out, or embed it again: anabranch corpus rebuild --corpus CORPUS --embedder {spec}"
        raise EmbedderMismatchError(msg, hint=hint)
    return CorpusEmbedder(model, spec, url)


def embedder_of_vectors(spec: str, base_url: str, name: str, *, where: str, hint: str) -> Embedder:
    """Load the embedder that vectors were made with; questions embedded by another one would find nothing.

    Raises:
        EmbedderMismatchError: It is not available here, or has changed since.
    """
    try:
        embedder = load_embedder(spec, base_url or None)
    except (SettingsError, OSError) as error:  # the folder may be unreadable
        why = error.message if isinstance(error, SettingsError) else str(error)
        msg = f"The embedder {spec!r} of the corpus {where} is not available here: {why}"
        raise EmbedderMismatchError(msg, hint=hint) from error
    if embedder.name != name:
        msg = f"The corpus {where} was made with the embedder {name!r}; here it is {embedder.name!r}."
        raise EmbedderMismatchError(msg, hint=hint)
    return embedder


def embed_missing(
    writer: CorpusWriter, model: Embedder, texts: Iterable[str], progress: Callable[[int], None] = lambda _: None
) -> None:
    """Embed the texts that have no vector yet; the vectors are kept as they come.

    Args:
        writer: The corpus.
        model: Its embedder.
        texts: What is embedded of leaves (`anabranch.store.records.embedded_text`).
        progress: Called with the number of texts after each call.

    Raises:
        AnabranchError: The embedder failed; a `ClientFaultError` for what is not one of our errors.
    """
    missing = writer.missing_vectors(list(texts), model.name)
    # Sorted by length: a batch is padded to its longest text.
    keys = sorted(missing, key=lambda key: len(missing[key]))
    for start in range(0, len(keys), EMBEDDED_LEAVES):
        part = keys[start : start + EMBEDDED_LEAVES]
        try:
            vectors = model.embed([without_amounts(missing[key]) for key in part])
        except AnabranchError:
            raise
        except Exception as error:  # it may be somebody's own
            raise ClientFaultError(f"The embedder {model.name!r} failed: {describe_fault(error)}.") from error
        writer.add_vectors(part, vectors, model.name)
        progress(len(part))

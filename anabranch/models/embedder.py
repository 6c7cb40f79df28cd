"""What turns text into vectors: the contract that local and hosted embedders share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anabranch.errors import ClientFaultError
from anabranch.models.wordpiece_tokenizer import Tokens
from anabranch.text.scripts import main_script

# Shape (n, dimension), rows of unit length.
Vectors = NDArray[np.float32]


class Embedder(Tokens, Protocol):
    """Turns texts into unit vectors; sync, because its callers already sit in a worker thread."""

    @property
    def name(self) -> str:
        """Stable name kept in a corpus manifest: provider, model, revision."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text, in order. The same text always gives the same row."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What an embedder may be told.

    Attributes:
        model: What stands behind the colon of its spelling, as in `openai:text-embedding-3-small`; empty without one.
        base_url: An OpenAI-compatible server.
        progress: Called with what is made, how much of it is done, and how much it is, where an embedder takes time to
            be made.
    """

    model: str = ""
    base_url: str | None = None
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None


class EmbedderType(Protocol):
    """What `anabranch.models.embedders.EMBEDDERS` holds: a class of embedders, or whatever else makes one."""

    def from_settings(self, settings: EmbedderSettings) -> Embedder:
        """Make one; called in a thread, so it may block.

        Raises:
            UserError: A key is missing, or the settings are wrong.
        """
        ...


@runtime_checkable
class NeedsPackage(Protocol):
    """A class of embedders that can be missing a package of which its model is made."""

    def check_package(self) -> None:
        """Return if an embedder can be made.

        Raises:
            MissingExtraError: The package is not installed.
        """
        ...


@runtime_checkable
class AsksApart(Protocol):
    """An embedder that wants questions embedded in another way than passages, as E5 and BGE do."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per question, in order."""
        ...


@runtime_checkable
class TokenVectors(Protocol):
    """An embedder that also gives a vector for each token of a text, which late interaction compares."""

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return an array of shape (tokens, dimension) for each text, rows of unit length."""
        ...


@runtime_checkable
class KnowsLimit(Protocol):
    """An embedder that can tell how much of a text it reads; of another one, all is taken to be read."""

    @property
    def limit(self) -> int:
        """Most tokens of a text that count, special ones included; what follows is cut off."""
        ...


@runtime_checkable
class KnowsScripts(Protocol):
    """An embedder that can tell which scripts it reads; of another one, all are taken to be read."""

    def reads(self, script: str) -> bool:
        """Tell whether it was trained on texts in a script, named as by `anabranch.text.scripts.script_of`."""
        ...


@runtime_checkable
class KnowsLanguages(Protocol):
    """An embedder that can tell whether it reads many languages; another one is taken to read one."""

    @property
    def is_multilingual(self) -> bool:
        """Whether it puts what says the same in two languages near each other."""
        ...


def is_multilingual(embedder: Embedder) -> bool:
    """Tell whether an embedder finds passages in another language than the question's."""
    return isinstance(embedder, KnowsLanguages) and embedder.is_multilingual


def unread_script(embedder: Embedder, text: str) -> str:
    """Return the script that most of a text is written in where the embedder cannot read it, else nothing."""
    script = main_script(text)
    return script if script and isinstance(embedder, KnowsScripts) and not embedder.reads(script) else ""


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return one unit row per question, in order, embedded in the way that this embedder wants questions."""
    return embedder.embed_queries(texts) if isinstance(embedder, AsksApart) else embedder.embed(texts)


def unit_rows(rows: ArrayLike, *, count: int, embedder: str) -> Vectors:
    """Return the rows at unit length, so that an inner product is a cosine.

    Args:
        rows: Shape (count, dimension).
        count: How many rows there have to be: one per text.
        embedder: Name for the message.

    Raises:
        ClientFaultError: Wrong shape, or a row that is zero, infinite or not a number.
    """
    vectors = np.ascontiguousarray(rows, dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[0] != count:
        msg = f"The embedder {embedder!r} gave an array of shape {vectors.shape} for {count} texts."
        raise ClientFaultError(msg, hint="Check that the model is a sentence embedder.")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    if not usable.all():
        msg = f"The embedder {embedder!r} gave {int((~usable).sum())} vectors that are zero or not finite."
        raise ClientFaultError(msg, hint="The model file may be damaged, or it is no sentence embedder.")
    return np.asarray(vectors / lengths, dtype=np.float32)

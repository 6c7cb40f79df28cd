"""What chunking asks of an embedder: how long a text is in its tokens, and where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Tokens(Protocol):
    """Counts and locates tokens; apart from `Embedder`, so that whoever only cuts loads no model and no arrays."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in this embedder's tokens, without special tokens."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of `text`, in order."""
        ...

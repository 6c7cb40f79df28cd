"""Who reorders candidates: a chat model, Cohere, or a local cross-encoder, behind one Protocol.

A reranker gives each text a relevance or None ("not judged"); it never drops, repeats or reorders anything itself, so
that no document can be lost on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Scores texts for a question."""

    @property
    def name(self) -> str:
        """What the trace calls it."""
        ...

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return one relevance per text, aligned with `texts`; None where this text was not judged.

        Raises:
            ModelError: The provider failed; the caller keeps the order it had.
            UserError: A key, a model name or a folder is wrong.
        """
        ...

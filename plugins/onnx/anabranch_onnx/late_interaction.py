"""Late interaction: each token of the question looks for its nearest token in the passage (MaxSim).

The operator is ColBERT's (Khattab and Zaharia 2020, arXiv 2004.12832, section 3.3), here over the token vectors of a
sentence encoder that was not trained for it. So its score does not decide alone: it moves the fused order a little.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder, TokenVectors
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from anabranch.models.lru import LRU
from anabranch.models.rerankers import Reranker, RerankerSettings

# Passages whose token vectors are kept: the questions of a conversation find many of them again. Some 100 MB of
# half-precision numbers at most, with the bundled encoder.
KEPT = 512
_kept: LRU[tuple[str, bytes], NDArray[np.float16]] = LRU(KEPT)

# A search runs several texts of its own at once; more of these than one at a time would only wait for cores.
_POOL = ThreadPoolExecutor(max_workers=1, thread_name_prefix="anabranch-late-interaction")


class LateInteractionReranker(Reranker):
    """Scores passages by the mean over the question's tokens of the highest cosine to a token of the passage."""

    name = "late_interaction"
    share = 0.25

    def __init__(self, encoder: Embedder) -> None:
        """Take the encoder whose token vectors are compared; it needs not be the corpus's embedder.

        Raises:
            SettingsError: It gives no token vectors.
        """
        if not isinstance(encoder, TokenVectors):
            msg = f"The embedder {encoder.name!r} gives no vectors of single tokens, which late_interaction compares."
            raise SettingsError(msg, hint="Leave rerank_model empty for the bundled encoder, or name a folder.")
        self._encoder = encoder

    @classmethod
    def from_settings(cls, settings: RerankerSettings) -> Self:
        """Load the encoder in `rerank_model`, a folder; the bundled one where it is empty."""
        return cls(load_embedder(settings.model or DEFAULT_EMBEDDER))

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return the score of each text, a mean of cosines; blank texts stay unjudged.

        Raises:
            ModelError: The encoder finds no token in a text.
        """
        return await asyncio.get_running_loop().run_in_executor(_POOL, self._scores, question, list(texts))

    def _scores(self, question: str, texts: list[str]) -> list[float | None]:
        wanted = [text for text in dict.fromkeys(texts) if text.strip()]
        if not wanted or not question.strip():
            return [None] * len(texts)
        (asked,) = self._encoder.token_vectors([question])
        tokens = self._tokens(wanted)
        # A text may hold nothing that is a token, as one of invisible characters.
        able = [text for text in wanted if len(tokens[text]) and len(asked)]
        found = {text: float((asked @ tokens[text].T).max(axis=1).mean()) for text in able}
        return [found.get(text) for text in texts]

    def _tokens(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the token vectors of each text, those that are kept not computed again."""
        keys = {text: (self._encoder.name, hashlib.sha256(text.encode("utf-8", "replace")).digest()) for text in texts}
        kept = {text: found for text, key in keys.items() if (found := _kept.get(key)) is not None}
        new = [text for text in texts if text not in kept]
        for text, tokens in zip(new, self._encoder.token_vectors(new), strict=True):
            kept[text] = tokens.astype(np.float16)
            _kept.set(keys[text], kept[text])
        # What is computed now and what is kept have the same precision, so that a score is the same each time.
        return {text: kept[text].astype(np.float32) for text in texts}

"""What leaves are measured in: tokens of the bundled WordPiece vocabulary, whatever embeds them.

Were they tokens of the embedder, another one would cut other leaves, and BM25 would rank them differently. A corpus
from before this was so keeps the tokens of its embedder.
"""

from __future__ import annotations

from functools import cache

from anabranch.errors import SettingsError
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER, CountsInMiniLM, Tokens

WORDPIECE = "wordpiece"
LEAF_UNIT = "leaf_unit"
"""The fact that a corpus keeps (`CorpusWriter.keep_meta`): `WORDPIECE`, or nothing for the tokens of its embedder."""


def choose_unit(known: str | None, embedder: Tokens, *, is_empty: bool) -> str:
    """Return the unit for further leaves of a corpus.

    Args:
        known: The fact that the corpus keeps.
        embedder: Its embedder.
        is_empty: Whether it has no leaves yet.
    """
    return known or (WORDPIECE if is_empty or _counts_in_wordpieces(embedder) else "")


def leaf_counter(unit: str, embedder: Tokens) -> Tokens:
    """Return what counts the tokens of leaves.

    Raises:
        SettingsError: A later version of Anabranch chose the unit.
    """
    if unit not in ("", WORDPIECE):
        msg = f"The corpus measures its leaves in {unit!r}, which this version does not know."
        raise SettingsError(msg, hint="Use the version of Anabranch that the corpus was made with, or a newer one.")
    return embedder if not unit or _counts_in_wordpieces(embedder) else _word_pieces()


def _counts_in_wordpieces(embedder: Tokens) -> bool:
    return getattr(embedder, "tokenizer", None) == MINILM_TOKENIZER


@cache
def _word_pieces() -> CountsInMiniLM:
    return CountsInMiniLM()

"""Passages on their way to a model: cleaned, numbered, and inside an envelope that they cannot close.

The envelope's tag carries a random word made for this one call, so no document can have been written to imitate it
(spotlighting by delimiters, 2403.14720). It is one wall of several: the model that reads passages has no tools, its
links are stripped and its quotes are checked.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from anabranch.corpus.reading.cleaning import clean

MAX_LABEL = 200


def new_nonce() -> str:
    """Return a random word for one call."""
    return secrets.token_hex(4)


def wrap(passages: Sequence[tuple[int, str, str]], nonce: str) -> str:
    """Put numbered passages into their envelope.

    Args:
        passages: Number, label (title, heading, page) and text of each.
        nonce: From `new_nonce`.
    """
    return "\n\n".join(_one(number, label, text, nonce) for number, label, text in passages)


def _one(number: int, label: str, text: str, nonce: str) -> str:
    origin = f' from="{_attribute(label)}"' if label else ""
    body = _neutral(clean(text).strip(), nonce)
    return f'<passage-{nonce} n="{number}"{origin}>\n{body}\n</passage-{nonce}>'


def _attribute(label: str) -> str:
    """Make a label safe inside quotes: one line, no quotes, no angle brackets."""
    flat = " ".join(clean(label).split())
    return re.sub(r'["<>]', "'", flat)[:MAX_LABEL]


def _neutral(text: str, nonce: str) -> str:
    """Break whatever looks like the envelope's own tags, and the nonce itself should a text ever hold it."""
    text = re.sub(r"<(\s*/?\s*passage)", r"‹\1", text, flags=re.IGNORECASE)
    return text.replace(nonce, "·" * len(nonce))

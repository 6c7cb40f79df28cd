"""Checks a value that a model copied from a passage, before a query is made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from anabranch.safety.key_redaction import redacted
from anabranch.safety.link_removal import strip_links
from anabranch.text.sentences import spans
from anabranch.types import Chunk

MAX_VALUE = 60
"""Most characters of a value."""

_MAX_WORDS = 6
_MAX_UNCASED = 20
# Up to three words may be all of a line, such as a name in a table.
_FEW_WORDS = 3
_LONG = 5
_DOMAIN = re.compile(r"[^\W\d_]\.[^\W_]{2}")
_END = " \t.,;:!?。、，；：！？\"'“”‘’"


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value and where it stands: characters [start, end) of the document of a passage."""

    text: str
    chunk_id: str
    start: int
    end: int


def find_value(text: str, chunks: Iterable[Chunk]) -> FoundValue | None:
    """Return where a value stands as a whole and verbatim, white space aside; None unless it looks like one.

    Args:
        text: What a model wrote: at most a stop or quotes around the value.
        chunks: The passages that the model read.
    """
    words = text.strip(_END).split()
    value = " ".join(words)
    if not looks_like_value(value):
        return None
    # Escaped words joined by white space: linear in the length of the passage.
    verbatim = r"\s+".join(map(re.escape, words))
    pattern = re.compile(rf"(?<!\w){verbatim}(?!\w)" if _is_cased(value) else verbatim)
    for chunk in chunks:
        for match in pattern.finditer(chunk.text):
            if len(words) <= _FEW_WORDS or not _is_sentence(chunk.text, match.start(), match.end()):
                start = chunk.start + match.start()
                return FoundValue(value, chunk.chunk_id, start, start + len(match[0]))
    return None


def looks_like_value(text: str) -> bool:
    """Tell whether a text has the shape of a name, a number, a code or a date, and of no address and no key.

    Words in lower case are short, as in "Bank of America"; beside a digit, one may be long, as in "3 de septiembre".
    """
    if not 1 < len(text) <= MAX_VALUE or not text.isprintable() or _DOMAIN.search(text):
        return False
    if strip_links(text) != text or redacted(text) != text or "@" in text:
        return False
    words = text.split()
    long = sum(len(word) >= _LONG and word.islower() for word in words)
    if any(map(str.isdigit, text)):
        return len(words) <= _MAX_WORDS and long <= 1
    if not _is_cased(text):
        return len(text) <= _MAX_UNCASED and any(map(str.isalpha, text))
    return len(words) <= _MAX_WORDS and long == 0 and any(map(str.isupper, text))


def _is_cased(text: str) -> bool:
    return text.lower() != text.upper()


def _is_sentence(text: str, start: int, end: int) -> bool:
    """Tell whether characters [start, end) are all of a sentence: a value is a part of one."""
    # Only a stretch around the value is split, because a passage may be long.
    low = max(start - 200, 0)
    around = text[low : end + 200]
    return any(around[a:b].strip(_END) == text[start:end].strip(_END) for a, b in spans(around) if a <= start - low < b)

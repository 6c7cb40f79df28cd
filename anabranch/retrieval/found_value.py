"""Checks a value that a model copied from a passage, before a query is made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from anabranch.safety.key_redaction import redacted
from anabranch.safety.link_removal import strip_links
from anabranch.text.sentences import spans
from anabranch.types import Chunk

MAX_VALUE = 60
"""Most characters of a value."""

_MAX_WORDS = 6
_MAX_UNCASED = 20
_MAX_PLACES = 20
_FEW_WORDS = 3
_STOPS = (".", "!", "?", "。", "！", "？")
_LONG = 5
# A host name (IDNA has four kinds of dots), a scheme or port, IPv4 in any base, IPv6, an absolute path, signs of code.
_ADDRESS = re.compile(
    r"[^\W\d_][.。．｡][^\W_]{2}|[^\W\d_]:\S|(?<!\d)(?:\d+\.){3}\d|(?<!\w)0x[\da-f]|::|(?:[\da-f]{1,4}:){4}|^/|[\\@＠<>{}|=`;；]",
    re.IGNORECASE,
)
# What is drawn at random, as keys are: of this length, names have no digits, and codes have signs or blanks.
_KEY = re.compile(r"(?=[\w+/]{0,60}\d)(?=[\w+/]{0,60}[^\W\d_])[\w+/]{16}")
_PART = re.compile(r"[^\W_]+")
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
    pattern = _make_pattern(words)
    # Looking for the plain words first takes a fiftieth of the time.
    for chunk in (each for each in chunks if all(word in each.text for word in words)):
        for match in islice(pattern.finditer(chunk.text), _MAX_PLACES):
            if not _is_sentence(chunk.text, match.start(), match.end()):
                start = chunk.start + match.start()
                return FoundValue(value, chunk.chunk_id, start, start + len(match[0]))
    return None


def names_value(text: str, value: str) -> bool:
    """Tell whether a text has a value as a whole: no "12" in "1912"."""
    return _make_pattern(value.split()).search(text) is not None


def _make_pattern(words: Sequence[str]) -> re.Pattern[str]:
    # Escaped words joined by white space: linear in the length of the passage.
    verbatim = r"\s+".join(map(re.escape, words))
    # A number is whole, too: no "250" in "1,250.5".
    return re.compile(rf"(?<!\w)(?<!\d[.,]){verbatim}(?!\w)(?![.,]\d)" if _has_bounds(verbatim) else verbatim)


def looks_like_value(text: str) -> bool:
    """Tell whether a text has the shape of a name, a number, a code or a date, and of no address and no key.

    Words in lower case are short and few, as in "Bank of America"; beside a digit, one may be long, as in "3 de
    septiembre". Hyphens join words. Of a script without capitals there are few letters.
    """
    # Of single letters and signs, only a digit is a value.
    if not (text.isdecimal() or len(text) > 1) or len(text) > MAX_VALUE or not text.isprintable():
        return False
    if _ADDRESS.search(text) or _KEY.search(text):
        return False
    if strip_links(text) != text or redacted(text) != text or len(spans(text)) > 1:
        return False
    words, has_digit = text.split(), any(map(str.isdigit, text))
    if len(words) > _MAX_WORDS or sum(_is_uncased(letter) for letter in text) > _MAX_UNCASED:
        return False
    parts = _PART.findall(text)
    lower = [part for part in parts if part.isalpha() and part.islower()]
    if sum(len(part) >= _LONG for part in lower) > has_digit or len(lower) > len(parts) - len(lower) + 1:
        return False
    return has_digit or any(map(str.isupper, text)) or any(map(_is_uncased, text))


def _is_uncased(letter: str) -> bool:
    return letter.isalpha() and letter.lower() == letter.upper()


def _has_bounds(text: str) -> bool:
    """Tell whether a text begins and ends as words do: scripts without capitals may not part their words."""
    return not any(map(_is_uncased, text))


def _is_sentence(text: str, start: int, end: int) -> bool:
    """Tell whether characters [start, end) are all of a sentence: a value is a part of one.

    Up to three words without a stop may be all of a line, such as a name in a table.
    """
    # Only a stretch around the value is split, because a passage may be long.
    low = max(start - 200, 0)
    around = text[low : end + 200]
    whole = next((around[a:b].strip() for a, b in spans(around) if a <= start - low < b), "")
    is_long = len(text[start:end].split()) > _FEW_WORDS or whole.endswith(_STOPS)
    return is_long and whole.strip(_END) == text[start:end].strip(_END)

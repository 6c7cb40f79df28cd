"""Finds the names in a text by their capitals.

No list of names and no model: a capital inside a sentence, two in a row, or an acronym. What only begins a sentence may
be a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from anabranch.text.analyzer import analyser
from anabranch.text.sentences import spans

_WORD = re.compile(r"[^\W\d_](?:[\w&]|['’.\-](?=[^\W_]))*")
_LEAD = re.compile(r"[#*_\"'“‘(>\-•–\s]*")
BETWEEN = re.compile(r"[ \t\n]+|[ \t\n]*(?:&|\bof\b|\bof the\b|\bde\b|\bvan\b|\bvon\b)[ \t\n]+")
_CAPITAL_ANYWAY = """
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mr mrs ms dr prof sir lady lord st
    i i'm i've q1 q2 q3 q4 ad bc am pm figure fig table section chapter appendix page note yes no ok etc
"""
_NO_NAMES = frozenset(_CAPITAL_ANYWAY.split())
_PEOPLE = re.compile(r"(?:ian|an|ese|ish|ic|ch|i|ss|er)$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text; `sure` names are told by their capitals alone, `maybe` ones only begin a sentence."""

    folded: str
    start: int
    end: int
    sure: bool
    maybe: bool


@lru_cache(maxsize=1 << 11)
def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text, with what their capitals say."""
    begins = {_LEAD.match(text, start).end() for start, _ in spans(text)}  # type: ignore[union-attr]  # it may be empty
    found = list(_WORD.finditer(text))
    capital = [_has_capital(match[0]) and fold(match[0]) not in _NO_NAMES for match in found]
    result = []
    for index, match in enumerate(found):
        if not capital[index]:
            result.append(Word(fold(match[0]), match.start(), match.end(), sure=False, maybe=False))
            continue
        stops = not analyser().terms(match[0])
        first = match.start() in begins
        beside = not stops and _beside(text, found, capital, index, begins)
        sure = not stops and (not first or beside or _is_acronym(match[0]))
        maybe = not stops and first
        result.append(Word(fold(match[0]), match.start(), match.end(), sure, maybe))
    return tuple(result)


def _beside(text: str, found: list[re.Match[str]], capital: list[bool], index: int, begins: set[int]) -> bool:
    """Tell whether the next word is a name too, as in "Ida Marrow"."""
    after = index + 1
    if after >= len(found) or not capital[after] or found[after].start() in begins:
        return False
    return BETWEEN.fullmatch(text, found[index].end(), found[after].start()) is not None


def _has_capital(word: str) -> bool:
    return word[0].isupper() or any(char.isupper() for char in word[1:])


def _is_acronym(word: str) -> bool:
    letters = word.replace(".", "").replace("&", "").removesuffix("s")
    return len(letters) > 1 and letters.isupper()


def plain(text: str) -> str:
    """Return a text without case, accents and kinds of apostrophes."""
    if text.isascii():
        return text.casefold()
    split = unicodedata.normalize("NFKD", text).casefold().replace("’", "'")
    return "".join(char for char in split if not unicodedata.combining(char))


_plain_passage = lru_cache(maxsize=256)(plain)


def mentions(text: str, name: str) -> bool:
    """Tell whether a text has a name, see `has`; most names stand in it as they are, and are found at once."""
    if name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _plain_passage(text)):
        return True
    return has(known(text), name)


def fold(word: str) -> str:
    """Return a word in comparable form: no case, no accents, no genitive, no stops."""
    return plain(word).removesuffix("'s").removesuffix("'").replace(".", "")


@dataclass(frozen=True, slots=True)
class Known:
    """What a passage and its label say, to look names up in.

    Attributes:
        all: Every word.
        names: Words that are names.
        capital: Those, and what may be one because it only begins a sentence.
        initials: Acronyms that its names in a row make.
    """

    all: frozenset[str]
    names: frozenset[str]
    capital: frozenset[str]
    initials: frozenset[str]


@lru_cache(maxsize=256)
def known(text: str) -> Known:
    """Read a passage (or a label) once for all claims."""
    found = words(text)
    parts = {part for word in found for part in parts_of(word.folded)}
    return Known(
        all=frozenset(parts.union(analyser().terms(text))),
        names=frozenset(part for word in found if word.sure for part in parts_of(word.folded)),
        capital=frozenset(part for word in found if word.sure or word.maybe for part in parts_of(word.folded)),
        initials=frozenset(_initials(text, found)),
    )


def parts_of(folded: str) -> set[str]:
    """Return a word and the parts that it is joined of."""
    return {folded, *re.split(r"[-']", folded)}


def _initials(text: str, found: Iterable[Word]) -> Iterable[str]:
    run = ""
    for word, after in pairwise([*found, Word("", len(text), len(text), sure=False, maybe=False)]):
        run = run + word.folded[:1] if word.sure or word.maybe else ""
        if len(run) > 1:
            yield from (run[start:] for start in range(len(run) - 1))
        if not BETWEEN.fullmatch(text, word.end, after.start):
            run = ""


def has(text: Known, name: str) -> bool:
    """Tell whether a text has a name, however inflected: its acronym, its people, its genitive."""
    if name in text.all or name in text.initials or text.all.issuperset(parts_of(name) - {""}):
        return True
    stem = analyser().terms(name)
    if stem and text.all.issuperset(stem):
        return True
    return bool(_PEOPLE.search(name)) and any(other[:4] == name[:4] for other in text.capital if len(other) > 3)


def known_names(claims: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """Return which of the words that only begin a claim are names inside a sentence of one of the texts."""
    first = {word.folded: claim[word.start : word.end] for claim in claims for word in words(claim) if word.maybe}
    every = "\n".join(texts) if first else ""
    return frozenset(
        folded for folded, word in first.items() if re.search(rf"[a-z,;] {re.escape(word)}(?!\w)", every) is not None
    )

"""Measures whether a piece of text can carry a claim: shared words, the claim's numbers, and the same polarity.

No model is asked: this is lexical entailment by coverage of the claim's content words (Glickman et al. 2005), with the
two checks that catch most of what coverage lets through.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from anabranch.corpus.analysis import analyser

OPPOSITE = 0.15
"""Factor for a text that says the opposite: even full coverage stays below every threshold."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SCALED = re.compile(r"\s?(k|m|bn|thousand|million|billion|trillion)\b", re.IGNORECASE)
_SCALES = {"k": 3, "m": 6, "bn": 9, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ENUMERATION = re.compile(r"\(\d\)")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not(?!\s+only\b)|never|no(?!\.\s?\d)|none|nor|neither|without|cannot|nobody|nothing|\w+n't)\b", re.IGNORECASE
)
_REPLY = re.compile(r"\s*no[,.;:!]\s", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.,;:!?]\s")
_IRREGULAR = """
rose risen:rise fell fallen:fall grew grown:grow shrank shrunk:shrink began begun:begin became:become bought:buy
sold:sell built:build chose chosen:choose drew drawn:draw drove driven:drive found:find gave given:give went gone:go
held:hold kept:keep knew known:know led:lead left:leave lent:lend lost:lose made:make meant:mean met:meet paid:pay
ran:run said:say saw seen:see sent:send spent:spend spoke spoken:speak stood:stand taken took:take taught:teach
told:tell thought:think understood:understand won:win wrote written:write brought:bring caught:catch broke broken:break
"""
_REACH = 3
_LONGEST_NUMBER = 40


_PRESENT = {
    past: group.rpartition(":")[2]
    for group in re.findall(r"[\w ]+:\w+", _IRREGULAR.replace("\n", " "))
    for past in group.rpartition(":")[0].split()
}
"""Stemming leaves these apart, and "costs fell" has to meet "costs did not fall"."""

_STEMS = {analyser().terms(past)[0]: analyser().terms(present)[0] for past, present in _PRESENT.items()}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What of a text is compared.

    Attributes:
        terms: Content words and numbers, stemmed.
        numbers: Values of its numbers as plain digits; "1.5 million" stands as 1.5 and as 1500000.
        negates: Whether it has a negation at all.
        negated: The terms that closely follow a negation.
    """

    terms: frozenset[str]
    numbers: frozenset[str]
    negates: bool
    negated: frozenset[str]


@lru_cache(maxsize=1 << 14)
def meaning(text: str) -> Meaning:
    """Read a text once for all comparisons."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    reply = _REPLY.match(plain)
    found = list(_NEGATION.finditer(plain, reply.end() if reply else 0))
    negated: set[str] = set()
    for match in found:
        following = _CLAUSE_END.split(plain[match.end() : match.end() + 100], maxsplit=1)[0]
        negated.update(_terms(following)[:_REACH])
    return Meaning(frozenset(_terms(text)), _numbers(plain), bool(found), frozenset(negated))


def _terms(text: str) -> list[str]:
    return [_STEMS.get(term, term) for term in analyser().terms(text)]


def support(claim: str, text: str) -> float:
    """Return the share of the claim's content words that the text has, 0 to 1, next to nothing where it negates it."""
    said, given = meaning(claim), meaning(text)
    if not said.terms:
        return 0.0
    shared = said.terms & given.terms
    covered = len(shared) / len(said.terms)
    opposite = said.negates and not given.negates
    if said.negates == given.negates:
        # Both negate: of the same words?
        opposite = said.negates and not (said.negated & given.negated) and bool(shared & (said.negated ^ given.negated))
    elif given.negates:
        opposite = bool(shared & given.negated)
    return covered * OPPOSITE if opposite else covered


def numbers_hold(claim: str, passage: str) -> bool:
    """Tell whether every number of the claim occurs in the passage, however it is written there.

    "One" is left out: it is a pronoun as often as a number.
    """
    values = meaning(passage).numbers
    plain = _ENUMERATION.sub(" ", unicodedata.normalize("NFKC", claim))
    spelled = {str(_WORDS.index(match[0].lower())) for match in _NUMBER_WORD.finditer(plain)} - {"1"}
    return spelled <= values and all(not values.isdisjoint(_values(plain, match)) for match in _NUMBER.finditer(plain))


def _numbers(text: str) -> frozenset[str]:
    words = (str(_WORDS.index(match[0].lower())) for match in _NUMBER_WORD.finditer(text))
    return frozenset(value for match in _NUMBER.finditer(text) for value in _values(text, match)).union(words)


def _values(text: str, match: re.Match[str]) -> set[str]:
    digits = match[0].replace(",", "") if _GROUPED.fullmatch(match[0]) else match[0]
    values = {_plain(digits)}
    scale = _SCALED.match(text, match.end())
    if scale and len(digits) < _LONGEST_NUMBER and digits.count(".") < 2 and "," not in digits:
        whole, _, fraction = digits.partition(".")
        zeros = _SCALES[scale[1].lower()]
        values.add(_plain(whole + fraction[:zeros].ljust(zeros, "0")))
    return values


def _plain(digits: str) -> str:
    if digits.count(".") == 1 and "," not in digits:
        digits = digits.rstrip("0").rstrip(".")
    return digits.lstrip("0") or "0"

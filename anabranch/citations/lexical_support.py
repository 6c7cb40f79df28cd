"""Measures whether a piece of text can carry a claim: shared words and the same polarity.

No model is asked: this is lexical entailment by coverage of the claim's content words (Glickman et al. 2005). What
coverage lets through is for `anabranch.citations.contradiction`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from anabranch.citations.quantities import evidence, stated_figures
from anabranch.text.analyzer import analyser

OPPOSITE = 0.15
"""Factor for a text that says the opposite: even full coverage stays below every threshold."""

_NEGATION = re.compile(
    r"\b(?:not(?!\s+only\b)|never|no(?!\.\s?\d|\s+(?:more|less|fewer|later) than)|none|nor|neither|cannot|"
    r"nobody|nothing|hardly|barely|rarely|seldom|unable|fail(?:s|ed|ing)? to|refus(?:es|ed|ing) to|\w+n't)\b",
    re.IGNORECASE,
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


_PRESENT = {
    past: group.rpartition(":")[2]
    for group in re.findall(r"[\w ]+:\w+", _IRREGULAR.replace("\n", " "))
    for past in group.rpartition(":")[0].split()
}
"""Stemming leaves these apart, and "costs fell" has to meet "costs did not fall"."""

_COUNTED = frozenset(
    analyser().terms("million millions billion billions trillion thousand thousands hundred percent dollars")
)
"""Numbers are compared with these taken into account."""

_STEMS = {analyser().terms(past)[0]: analyser().terms(present)[0] for past, present in _PRESENT.items()}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What of a text is compared.

    Attributes:
        terms: Content words and numbers, stemmed.
        words: Those that are no numbers, nor what numbers are counted in.
        negates: Whether it has a negation at all.
        negated: The terms that closely follow a negation.
        denied: The first term after each negation.
    """

    terms: frozenset[str]
    words: frozenset[str]
    negates: bool
    negated: frozenset[str]
    denied: frozenset[str]


@lru_cache(maxsize=1 << 14)
def meaning(text: str) -> Meaning:
    """Read a text once for all comparisons."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    reply = _REPLY.match(plain)
    found = list(_NEGATION.finditer(plain, reply.end() if reply else 0))
    negated: set[str] = set()
    denied: set[str] = set()
    for match in found:
        following = _CLAUSE_END.split(plain[match.end() : match.end() + 100], maxsplit=1)[0]
        after = _terms(following)[:_REACH]
        negated.update(after)
        denied.update(after[:1])
    terms = frozenset(_terms(text))
    words = frozenset(term for term in terms if not any(map(str.isdigit, term))) - _COUNTED
    return Meaning(terms, words, bool(found), frozenset(negated), frozenset(denied))


def _terms(text: str) -> list[str]:
    return [_STEMS.get(term, term) for term in analyser().terms(text)]


def support(claim: str, text: str, *, scaled: bool = False) -> float:
    """Return the share of the claim that the text has, 0 to 1, next to nothing where it negates it.

    Args:
        claim: What is said.
        text: What is to carry it.
        scaled: Whether numbers of the text may stand without their scale, see `quantities.is_scaled`.

    Returns:
        Content words and numbers of the claim that the text has, over all that the claim has.
    """
    said, given = meaning(claim), meaning(text)
    stated = stated_figures(claim)
    whole = len(said.words) + len(stated)
    if not whole:
        return 0.0
    there = evidence(text) if stated else ()
    matched = sum(any(figure.matches(other, scaled=scaled) for other in there) for figure in stated)
    covered = (len(said.words & given.words) + matched) / whole
    return covered * OPPOSITE if _negates(said, given) else covered


def _negates(said: Meaning, given: Meaning) -> bool:
    shared = said.terms & given.terms
    if said.negates != given.negates:
        return said.negates or bool(shared & given.negated)
    # Both negate: what one denies, the other affirms?
    affirmed = (said.denied & (given.terms - given.negated)) | (given.denied & (said.terms - said.negated))
    return said.negates and not (said.denied & given.denied) and bool(affirmed)

"""Tells whether a question leans on the one before it: by its words alone, so that no model is asked for nothing.

Two degrees. A question *leans* where its words point back (a pronoun without a noun, "what about", a fragment). It *may
lean* where it only says little: without a name or a number, what it is about may have been said before.
"""

from __future__ import annotations

import re

from anabranch.corpus.analysis import analyser
from anabranch.figures import figures
from anabranch.names import words

_OPENING = re.compile(
    r"^\W*(?:and|but|or|so|then|also|plus)\b(?!\s+(?:far|called))|^\W*(?:what|how) about\b"
    r"|^\W*(?:why|how so|really|how|when|where|who|which|since when|how come|says who|such as|like what|for example|"
    r"any others?|what else|who else|where else|anything else|go on|tell me more|more details?|more|explain|elaborate|"
    r"continue|summari[sz]e)\W*$",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers)\b", re.IGNORECASE)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|will|does|did|can|could|may|has)?\s*it(?:'s| is| was| be| been)?\s+(?:\w+ly\s+)?"
    r"(?:true|possible|necessary|legal|safe|allowed|better|worth|important|common|normal|take|takes|took|cost|mean)\b"
    r"(?=.{0,60}\b(?:to|that|if|for|when)\b)",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"(?:^|\b(?:of|in|at|for|to|with|about|by|from|on|than|like|after|before|since|during|is|was|are|were|do|does|did|"
    r"can|could|will|would|why|how|when|where|and)\s+)(?:this|that)\b(?!\s+(?:year|month|week|day)\b)"
    r"|\b(?:this|that)\W*$|\b(?:these|those)\b(?!\s+(?:who|that|which|with|of)\b)|\bthat\s+(?:one|year|time|case)\b",
    re.IGNORECASE,
)
_COMPARING = re.compile(
    r"\bthe (?:same|other|others|former|latter|previous|first|second|third|last|next|rest|remaining|above)\b"
    r"(?:\s+ones?)?(?=\W*$|\s+(?:ones?|year|quarter|version|model|chapter|section|question|answer)\b)"
    r"|\bthe same (?:appl(?:y|ies)|goes?|holds?|thing|true)\b"
    r"|\b(?:another|which|any|other|what) ones?\b|\bany (?:other|more)\b|\b(?:else|instead)\b|\bas mentioned\b"
    r"|\b(?:too|as well|either|then|there)\W*$|\bboth\b(?!.{0,40}\band\b)|\bof (?:each|all of)\W*$",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^\W*(?:in|on|at|for|by|with|without|from|to|of|under|during|before|after|since|until)\b", re.IGNORECASE
)
_ASKING = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|"
    r"have|had|may|might|list|name|compare|describe|explain|give|show|tell|find|count|summari[sz]e|define|translate)\b",
    re.IGNORECASE,
)
_OBJECTS = frozenset({"it", "them", "him"})
_BORDER = re.compile(
    r",|\b(?:and|or|that|who|which|when|where|if|because|while|after|before|since|why|how)\b", re.IGNORECASE
)
_OWNING = frozenset({"its", "their", "his", "her"})
_FEW = 5
_FEWEST = 3
_SAYS_LITTLE = 3


def leans(question: str) -> bool:
    """Say whether the words of a question point to what came before it."""
    found = words(question)
    if _OPENING.search(question) or _POINTING.search(question) or _COMPARING.search(question):
        return True
    if _fragment(question, len(found)) or (not _content(question) and not figures(question)):
        return True
    plain = _EXPLETIVE.sub(lambda match: " " * len(match[0]), question)
    return any(not _meant_before(question, match) for match in _PERSONAL.finditer(plain))


def may_lean(question: str) -> bool:
    """Say whether a question may be about what was said before: it leans, or it says little and names nothing."""
    if leans(question):
        return True
    named = any(word.sure for word in words(question)) or bool(figures(question))
    return not named and len(_content(question)) <= _SAYS_LITTLE


def _content(question: str) -> set[str]:
    return set(analyser().terms(question)) - _EMPTY


_EMPTY = frozenset(
    analyser().terms(
        "many much long often far old happen happened mean cost say said tell know kind sort please thing things "
        "answer question reason example examples detail details work works"
    )
)
"""Words that a question has whatever it is about."""


def _fragment(question: str, length: int) -> bool:
    """Tell whether a question is no sentence: "In 2020?", "The mill?", "For how long?"."""
    if length > _FEW:
        return False
    return not _ASKING.search(question) or (length <= _FEWEST and _BARE.search(question) is not None)


def _meant_before(question: str, pronoun: re.Match[str]) -> bool:
    """Tell whether a pronoun means something before it in the question.

    "Where was Fitzgerald when he wrote", but not "did Fitzgerald write it": an object is seldom the subject again.
    """
    before = question[: pronoun.start()]
    named = [word.end for word in words(question) if word.sure and word.end <= pronoun.start()]
    if named and (pronoun[0].lower() not in _OBJECTS or _BORDER.search(before, named[0])):
        return True
    return pronoun[0].lower() in _OWNING and len(_content(before)) > 1

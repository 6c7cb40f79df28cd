"""Tells a heading, a question or a lead-in that only announces what follows from one that says something itself.

"Here is what I found:" claims nothing. "The mayor was arrested in 1987:" does, whatever stands below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from anabranch.citations.proper_nouns import known, words
from anabranch.citations.quantities import Figure, evidence, stated_figures
from anabranch.text.analyzer import analyser
from anabranch.text.stopwords import STOP_WORDS

OWN_WORDS = 4
"""Content words that neither the question nor what is introduced has, from which a lead is a statement."""

# Words that speak of the answer and not of the world. In a third language they count like any others.
_ENGLISH_FRAME = """
according accordance answer answers available based below brief context described details document documents excerpts
findings follow following follows found given information key know learn like list listed main mentioned overview
passage passages point points provided question relevant said say says section see sources stated summary takeaway
takeaways text want
"""
_GERMAN_FRAME = """
angaben antwort auszüge beschrieben beschriebenen bereitgestellten details dokument dokumente dokumenten einzelheiten
ergebnis ergebnisse erfahren erwähnt erwähnten folgende folgenden folgendes folgt frage gefunden gegeben genannt
genannten hinweise informationen kurz laut möchten passage passagen punkt punkte quellen text texten überblick
übersicht vorliegenden weitere wichtigsten wissen zufolge zusammenfassung
"""
_GRAMMAR = frozenset([*_ENGLISH_FRAME.split(), *_GERMAN_FRAME.split()]).union(*STOP_WORDS.values())
_ENGLISH, _GERMAN = (
    STOP_WORDS[one] - STOP_WORDS[other] for one, other in (("english", "german"), ("german", "english"))
)

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
# Two letters of a script without blanks between words are no word; such text is told by its numbers alone.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_NUMBERING = re.compile(r"\A[#*_>\s]*(?:\(?\d{1,3}(?:\.\d{1,3})*[.):]|\d{1,3}(?:\.\d{1,3})+)(?:\s|$)")
_LONG = 3


class Said:
    """What a question and some claims say; read once, for all leads before them."""

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        """Take the claims that are introduced."""
        self._text = "\n".join([question, *texts])
        self._counts = {str(len(texts))}
        self._words: set[str] | None = None

    def lacks(self, lead: str) -> bool:
        """Tell whether a lead has a number, a name, or `OWN_WORDS` content words that are not in here.

        How many claims follow is no news, and a number before a heading counts headings. Where capitals tell no names
        (German nouns, headings in title case) names count as words.
        """
        lead = _NUMBERING.sub("", lead)
        if any(not self._has(figure) for figure in stated_figures(lead)):
            return True
        if _tells_names(lead, self._text) and _names(lead) - known(self._text).all:
            return True
        if self._words is None:
            self._words = set(_content(self._text))
        return len(_content(lead).keys() - self._words) >= OWN_WORDS

    def _has(self, figure: Figure) -> bool:
        return not figure.values.isdisjoint(self._counts) or any(
            figure.matches(other) for other in evidence(self._text)
        )


def _content(text: str) -> dict[str, None]:
    """Return the stems of the words that carry meaning, of a text in any language with blanks between words."""
    spoken = (word for word in _WORD.findall(text) if word.casefold() not in _GRAMMAR and not _UNSPACED.search(word))
    return {stem: None for word in spoken for stem in analyser().terms(word)}


def _names(text: str) -> set[str]:
    return {word.folded for word in words(text) if word.sure and word.folded not in _GRAMMAR}


def _tells_names(lead: str, around: str) -> bool:
    long = [word for word in _WORD.findall(lead) if len(word) > _LONG]
    is_title = len(long) > 1 and all(word[0].isupper() for word in long)
    return not is_title and not _has_german_nouns(f"{lead}\n{around}")


@lru_cache(maxsize=256)
def _has_german_nouns(text: str) -> bool:
    """Tell whether a text is German rather than English, by its function words."""
    spoken = [word.casefold() for word in _WORD.findall(text)]
    return sum(word in _GERMAN for word in spoken) > sum(word in _ENGLISH for word in spoken)

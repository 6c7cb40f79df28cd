"""Tells an answer from a polite way of giving none, in the languages that the stop words know."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from anabranch.text.function_words import NEGATIONS, fold_word
from anabranch.text.language import language_of
from anabranch.text.sentences import spans

_LONGEST = 400
_WORD = re.compile(r"[^\W\d_]+(?:['’/][^\W\d_]+)*")
# "Unknown" and its like deny by themselves.
_PREFIXED = re.compile(r"^(?:un|in|des|sconos|onbek|ukjent|okänd|άγνωσ|неизв|अज्ञा|tuntem)")


def is_refusal(text: str) -> bool:
    """Tell whether a short text says only that there is no answer: each of its sentences denies that the sources tell.

    Args:
        text: An answer, or a sentence of one. Sentences that say something else make it an answer.
    """
    if not text.strip() or len(text) > _LONGEST:
        return False
    language = language_of(text, "english")
    return all(_denies(text[start:end], language) for start, end in spans(text))


def _denies(sentence: str, language: str) -> bool:
    """Tell whether a sentence has a negation and a word for the sources, or for not knowing."""
    words = [fold_word(word) for word in _WORD.findall(sentence)]
    for known in dict.fromkeys((language, "english")):
        sources, unknown = _words().get(known, ((), ()))
        denied = any(word.replace("'", "") in NEGATIONS.get(known, frozenset()) for word in words)
        if any(word.startswith(sources) for word in words) and denied:
            return True
        if any(word.startswith(unknown) and (denied or _PREFIXED.match(word)) for word in words):
            return True
    return False


@cache
def _words() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    data = tomllib.loads(Path(__file__).with_name("refusal_words.toml").read_text("utf-8"))
    return {
        language: (tuple(map(fold_word, entry["sources"].split())), tuple(map(fold_word, entry["unknown"])))
        for language, entry in data.items()
    }

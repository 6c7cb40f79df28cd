"""What the program says to a reader by itself, in the language of the question."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from anabranch.text.function_words import fold_word
from anabranch.text.language import language_of

_PHRASES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text("utf-8"))
_WORD = re.compile(r"[^\W\d_]+")
_KINDS = ("greeting", "parting")
_SMALL_TALK = {
    language: {kind: frozenset(fold_word(word) for word in phrases[f"{kind}s"].split()) for kind in _KINDS}
    for language, phrases in _PHRASES.items()
}
_LONGEST = 4


def phrases_for(question: str, language: str = "english") -> dict[str, str]:
    """Return the phrases for a reader who asks this question; English where its language has none.

    Args:
        question: As it was asked.
        language: Taken where the question is too short to tell its own.
    """
    return _PHRASES.get(language_of(question, language), _PHRASES["english"])


def greeting_reply(question: str) -> str:
    """Return the reply to a greeting, to thanks or to a farewell; empty where the question is anything else.

    Args:
        question: At most four words, all of them of such in one language, are no question.
    """
    words = [fold_word(word) for word in _WORD.findall(question)]
    if not 0 < len(words) <= _LONGEST or any(map(str.isdigit, question)) or "?" in question:
        return ""
    for language, known in _SMALL_TALK.items():
        if frozenset().union(*known.values()).issuperset(words):
            # "Hello, and thanks" is the end of something, and no beginning.
            return _PHRASES[language]["parting" if known["parting"].intersection(words) else "greeting"]
    return ""

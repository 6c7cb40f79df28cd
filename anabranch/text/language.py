"""Guesses the language of a text by its stop words."""

from __future__ import annotations

import re
from collections import Counter

from anabranch.text.scripts import MARKS
from anabranch.text.stopwords import STOP_WORDS

_WORD = re.compile(rf"(?:[^\W\d_]|[{MARKS}])+")
_FEWEST = 2
_LOOK_AT = 4_000  # characters; function words show a language within a paragraph
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in STOP_WORDS.items():
    for _word in _words:
        _LANGUAGES_OF.setdefault(_word, []).append(_language)


def language_of(text: str, default: str = "") -> str:
    """Return the language most of whose stop words a text has, by its name in the Snowball stemmers.

    Args:
        text: Any text; its first 4,000 characters are read.
        default: Returned if the text has fewer than two stop words of one language.
    """
    hits = Counter(
        language for word in _WORD.findall(text[:_LOOK_AT].casefold()) for language in _LANGUAGES_OF.get(word, ())
    )
    language, count = max(hits.items(), key=lambda hit: (hit[1], hit[0] == default), default=("", 0))
    return language if count >= _FEWEST else default

"""What kind of thing a question asks for, in any language: a figure, a yes or no, and in English much else."""

from __future__ import annotations

import re
from dataclasses import replace

from anabranch.synthesis.english_question_type import Asks, asks_in_english
from anabranch.text.function_words import INTERROGATIVES, NUMBERS, fold_word
from anabranch.text.quantity_questions import measure_words

_WORD = re.compile(r"[^\W\d_]+")


def asks_of(question: str, language: str) -> Asks:
    """Return what a question asks for.

    Args:
        question: As it was asked.
        language: Its own, or where it is too short to tell, that of the passages.
    """
    asks = asks_in_english(question)
    if not asks.kind and measure_words(question):
        asks = replace(asks, kind="figure", numbers=frozenset(NUMBERS.get(language, ())))
    known = INTERROGATIVES.get(language)
    words = set(map(fold_word, _WORD.findall(question)))
    return replace(asks, whether=bool(words) and known is not None and known.isdisjoint(words))

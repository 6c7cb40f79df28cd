"""Recognises replies that only say that there is no answer, in the languages that have stop words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anabranch.text.function_words import NEGATIONS, fold_word
from anabranch.text.language import language_of
from anabranch.text.scripts import MARKS
from anabranch.text.sentences import spans

# A longer text says more than a refusal.
_LONGEST = 400
_LETTER = rf"(?:[^\W\d_]|[{MARKS}])"
_WORD = re.compile(rf"{_LETTER}+(?:['’/]{_LETTER}+)*")


@dataclass(frozen=True, slots=True)
class SourceWords:
    """A language's words for the sources (folded) and for the speaker; see refusal_words.toml."""

    sources: tuple[str, ...]
    speaker: tuple[frozenset[str], ...]


def is_refusal(text: str) -> bool:
    """Tell whether a short text says only that there is no answer, in each of its sentences.

    Args:
        text: An answer, or a sentence of one.
    """
    if not text.strip() or len(text) > _LONGEST:
        return False
    language = language_of(text, "english")
    return all(_denies(text[start:end], language) for start, end in spans(text))


def _denies(sentence: str, language: str) -> bool:
    """Tell whether a sentence denies that the sources hold the answer, or that its speaker knows it."""
    # Accents stay: in Spanish, "sé" is "I know", and "se" is very common.
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(sentence)]
    if " ".join(words) in _alone():
        return True
    denied = _denying([fold_word(word).replace("'", "") for word in words])
    said = {part for word in words for part in (word, *word.split("'"))}
    # In any language, because a few words do not show theirs; Turkish always, because its verb denies ("Bilmiyorum").
    if any(each <= said for known in {*denied, "turkish"} for each in source_words()[known].speaker):
        return True
    folded = list(map(fold_word, said))
    return any(
        word.startswith(source_words()[known].sources) for known in denied & {language, "english"} for word in folded
    )


def _denying(words: Sequence[str]) -> set[str]:
    """Return the languages in which one of the words is a negation."""
    return {known for known in source_words() if not NEGATIONS[known].isdisjoint(words)}


@cache
def source_words() -> dict[str, SourceWords]:
    """Return the words by language. Owner: this module; read once."""
    return {
        language: SourceWords(
            tuple(map(fold_word, entry["sources"].split())),
            tuple(frozenset(words.casefold().split()) for words in entry["speaker"]),
        )
        for language, entry in _data().items()
    }


@cache
def _alone() -> frozenset[str]:
    return frozenset(word for entry in _data().values() for word in entry["alone"].casefold().split())


@cache
def _data() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("refusal_words.toml").read_text("utf-8"))

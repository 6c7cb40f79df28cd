"""Reads the reply to a yes-or-no question: the probability of yes if the server reports it, else the first word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.text.function_words import NO, YES, fold_word

# Least probability of yes and no together.
LEAST = 0.1

_MAX_READ = 50_000
_MAX_PLACES = 100
_AROUND = "\"“”«»„'`*_ \n\t.,!:▁Ġ"


def yes_probability(reply: str, logprobs: object = None) -> float | None:
    """Return the probability of yes, 0 to 1; None if the reply is neither yes nor no.

    Args:
        reply: The model's reply; without probabilities, the result is 0 or 1.
        logprobs: The log probabilities of each token, as OpenAI sends them; anything else is ignored.
    """
    words = drop_thinking(reply[:_MAX_READ]).split(maxsplit=1)
    word = _fold(words[0]) if words else ""
    # Only tokens of the answer count, not those of the thoughts before it.
    if (chances := _first_chances(logprobs, word)) is not None:
        return chances
    return 1.0 if word in YES else 0.0 if word in NO else None


def _first_chances(logprobs: object, word: str) -> float | None:
    """Return the share of yes among yes and no at the first place that is the first word of the reply."""
    for token, alternatives in _places(logprobs):
        if not (said := _fold(token)):
            continue
        if not word.startswith(said):
            return None
        yes, no = (sum(chance for text, chance in alternatives if _fold(text) in known) for known in (YES, NO))
        return yes / (yes + no) if yes + no >= LEAST else None
    return None


def _places(logprobs: object) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Yield each token of a reply with its alternatives and their probabilities."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    for place in content[:_MAX_PLACES] if isinstance(content, list) else ():
        if not isinstance(place, Mapping):
            return
        top = place.get("top_logprobs")
        read = [_chance(each) for each in top[:_MAX_PLACES]] if isinstance(top, list) else []
        yield str(place.get("token", "")), [each for each in read if each is not None]


def _chance(record: object) -> tuple[str, float] | None:
    value = record.get("logprob") if isinstance(record, Mapping) else None
    # `not value <= 0` also refuses NaN.
    if not isinstance(record, Mapping) or not isinstance(value, int | float) or not value <= 0:
        return None
    return str(record.get("token", "")), math.exp(value)


def _fold(word: str) -> str:
    return fold_word(word.strip(_AROUND))

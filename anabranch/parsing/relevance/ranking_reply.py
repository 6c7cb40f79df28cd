"""Reads what a model says about passages that it has seen together: an order, with or without scores.

An order without scores is one such as "[2] > [1] > [3]" (RankGPT, Sun et al. 2023, arXiv 2304.09542).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anabranch.parsing.json_repair import MAX_REPLY, find_json
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.parsing.relevance.relevance_scores import (
    BEST,
    DOC,
    DOC_KEYS,
    SCORE,
    Judgements,
    document_of,
    read_judgements,
)
from anabranch.parsing.relevance.scale_alignment import on_ten

_BRACKETED = re.compile(r"\[\s*(?:doc(?:ument)?|passage)?\s*(-?\d{1,6})\s*\]", re.IGNORECASE)
_NAMED = re.compile(rf"\b{DOC}\b[\s.:=#]*(\d{{1,6}})(?!\d)", re.IGNORECASE)
_NUMBERS_ONLY = re.compile(r"^(?:[\w ]{0,40}:)?[\s(*]*\d{1,6}(?:(?:\s*[>,;=-]+\s*|\s+)\d{1,6})*[\s).*]*$")
_SCORE_ALONE = re.compile(rf"\W*{SCORE}\W*\d+\D*$", re.IGNORECASE)


def _numbers_in(reply: str) -> list[int]:
    """Return the numbers of passages in the order named, unknown and repeated ones among them.

    It is the first reading that names a passage: brackets, a JSON list, named documents, a line of numbers.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    bracketed = _BRACKETED.findall(text)
    if len(bracketed) > 1:
        return [int(number) for number in bracketed]
    listed = list(_integers(find_json(text)))
    named = listed or [int(number) for number in bracketed or _NAMED.findall(text)]
    if named:
        return named
    lines = [re.findall(r"\d{1,6}", line[:2000]) for line in text.splitlines() if _is_numbers(line[:2000])]
    return [int(number) for numbers in lines for number in numbers]


def _is_numbers(line: str) -> bool:
    """Say whether a line holds nothing but numbers of passages; one number with a label of a score is a score."""
    return bool(_NUMBERS_ONLY.match(line)) and not _SCORE_ALONE.match(line)


def _is_line_of_numbers(reply: str) -> bool:
    """Say whether a reply is one line of numbers, such as "3, 1": two of them look like a passage and its score."""
    text = drop_thinking(reply[:MAX_REPLY]).strip()
    return len(text) <= 2000 and _is_numbers(text) and "\n" not in text


def _integers(value: object, depth: int = 0) -> Iterator[int]:
    """Yield the passage numbers in a list, in an object's first list, or under the name of a document."""
    if depth > 3:
        return
    if isinstance(value, dict):
        fields = {str(key).casefold(): item for key, item in value.items()}
        documents = [fields[key] for key in DOC_KEYS if key in fields]
        lists = [item for item in fields.values() if isinstance(item, list)]
        yield from _integers((documents or lists or [[]])[0], depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _integers(item, depth + 1)
    elif (number := document_of(value)) is not None:
        yield number


LEAST = 1.0
"""Relevance of the last passage in an order without scores: whatever is named helps a little."""

STEP = 0.001
"""Between equal scores the order in the reply decides; small enough to change nothing else."""


def read_listwise(reply: str, count: int) -> Judgements:
    """Read the best passages first, by scores where the reply has any, else by the order alone.

    Scores count more than the place in the list: models that give both sometimes list passages as they were shown.

    Args:
        reply: Anything a model wrote.
        count: How many passages it was shown, numbered from 1.

    Returns:
        The judgements, of distinct scores above 0 but for those that the reply itself puts at 0. Never raises.
    """
    judged = read_judgements(reply, count)
    if judged.scores and not _is_line_of_numbers(reply):
        return judged._replace(scores=_told_apart(on_ten(judged.scores)))
    named = [number - 1 for number in _numbers_in(reply)]
    known = list(dict.fromkeys(index for index in named if 0 <= index < count))
    step = (BEST - LEAST) / max(len(known) - 1, 1)
    scores = {index: BEST - step * place for place, index in enumerate(known)}
    return Judgements(scores, judged.repairs + len(named) - len(known), cut_off=False)


def _told_apart(scores: dict[int, float]) -> dict[int, float]:
    return {
        index: max(score - STEP * place, STEP / (place + 2)) if score > 0 else 0.0
        for place, (index, score) in enumerate(scores.items())
    }

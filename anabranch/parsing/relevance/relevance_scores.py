"""Reads judgements of relevance: "Doc: 9, Relevance: 7" in the many ways that models write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from anabranch.parsing.json_repair import MAX_REPLY, find_json
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.parsing.relevance.score_lines import from_lines
from anabranch.parsing.relevance.score_table import from_table
from anabranch.parsing.relevance.score_words import BEST, DOC, DOC_KEYS, SCORE_KEYS, document_of, score_of

Judgement = tuple[int, float | None]

_SMALLEST = re.compile(r"\{[^{}]{0,2000}\}|\[\s*\"?\d{1,6}\"?\s*,[^\[\]{}]{1,40}\]")
_NONE = re.compile(
    r"\W*(?:none\b|nothing\b|no\b[^.\n]{0,60}\b(?:passages?|documents?|docs?|texts?)\b)"
    r"|(?:```\w*\s*)?(?:\[\s*\]|\{\s*\"[\w ]+\"\s*:\s*\[\s*\]\s*\})\W*\Z",
    re.IGNORECASE,
)
_MENTIONED = re.compile(rf"\b{DOC}\b[\s.:=#\[(]*(\d{{1,6}})(?!\d)", re.IGNORECASE)


class Judgements(NamedTuple):
    """What one reply says.

    Attributes:
        scores: Relevance in [0, 10] by 0-based index, in the order listed.
        repairs: Judgements that were left out (an unknown passage, no number, off the scale) or given twice.
        cut_off: Whether the reply ends in the middle: its silence about a passage then says nothing.
    """

    scores: dict[int, float]
    repairs: int
    cut_off: bool


def says_none(reply: str) -> bool:
    """Say whether a reply finds that no passage helps: an empty list, or words such as "None of them"."""
    text = drop_thinking(reply[:MAX_REPLY]).strip()
    return bool(_NONE.match(text))


def parse_relevance(reply: str, count: int) -> dict[int, float]:
    """Return the scores alone, see `read_judgements`."""
    return read_judgements(reply, count).scores


def read_judgements(reply: str, count: int) -> Judgements:
    """Read lines like "Doc: 9, Relevance: 7" in the many ways that models write them.

    Understands "Document 2 - Relevance: 9", "[2] 9", "- Doc 2 (9)", "Doc: 3, Relevance: 7/10", decimals, percentages,
    ranges, labels on lines of their own, tables, and JSON lists, objects and lines. A judgement that cannot be read is
    skipped by itself and shifts no other. Where a passage is judged more than once the best counts: a reply that
    rambles on, or repeats what a passage said about itself, may then cost a reader one passage too many but never the
    one that matters.

    Args:
        reply: Anything a model wrote.
        count: How many passages it was shown, numbered from 1.

    Returns:
        The judgements; no scores where nothing can be read. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    as_json = dict.fromkeys(_from_any_json(text, count))
    said = as_json or dict.fromkeys(from_table(text)) or dict.fromkeys(from_lines(text))
    found: dict[int, float] = {}
    repairs = 0
    for doc, score in said:
        good = 1 <= doc <= count and score is not None and 0 <= score <= BEST
        repairs += not good or doc - 1 in found
        if good and score is not None:
            found[doc - 1] = max(score, found.get(doc - 1, 0.0))
    unread = set() if as_json else {int(number) for number in _MENTIONED.findall(text)} - {doc for doc, _ in said}
    cut_off = _has_no_end(text) if as_json else _ends_unread(text, unread)
    return Judgements(found, repairs + len([doc for doc in unread if 1 <= doc <= count]), cut_off)


def _ends_unread(text: str, unread: set[int]) -> bool:
    """Say whether the last line begins a judgement that has no number."""
    last = text.rstrip().rsplit("\n", 1)[-1][:200]
    return any(int(number) in unread for number in _MENTIONED.findall(last)) or bool(
        re.fullmatch(rf"\W*{DOC}\W*", last, re.IGNORECASE)
    )


def _from_any_json(text: str, count: int) -> list[Judgement]:
    """Return what the first JSON value says, or each of the smallest ones where together they say more.

    They do where a value is on each line, where a list has no end, and where a comma is missing.
    """
    first = list(_from_json(find_json(text), count))
    pieces = [match[0] for match, _ in zip(_SMALLEST.finditer(text), range(10 * max(count, 0)), strict=False)]
    each = [judgement for piece in pieces for judgement in _from_json([find_json(piece)], count)]
    return each if len(each) > len(first) else first


def _has_no_end(text: str) -> bool:
    return sum(map(text.count, "[{")) > sum(map(text.count, "]}"))


def _from_json(value: object, count: int) -> Iterator[Judgement]:
    """Yield judgements from [{"doc": 1, "relevance": 7}], {"1": 7}, [[1, 7]], or either under a key of an object."""
    if isinstance(value, list):
        for item in value[: 10 * max(count, 0)]:
            yield from _from_item(item)
    elif isinstance(value, dict):
        yield from _from_item(value)
        for key, item in list(value.items())[: 10 * max(count, 0)]:
            if (doc := document_of(key)) is not None:
                yield doc, score_of(item)
            elif isinstance(item, list | dict):
                yield from _from_json(item, count)


def _from_item(item: object) -> Iterator[Judgement]:
    if isinstance(item, list) and len(item) == 2:
        item = {"doc": item[0], "score": item[1]}
    if not isinstance(item, dict):
        return
    fields = {str(key).casefold(): value for key, value in item.items()}
    doc = document_of(next((fields[key] for key in DOC_KEYS if key in fields), None))
    if doc is not None:
        yield doc, score_of(next((fields[key] for key in SCORE_KEYS if key in fields), None))

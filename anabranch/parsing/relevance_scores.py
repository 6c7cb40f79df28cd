"""Reads judgements of relevance: "Doc: 9, Relevance: 7" in the many ways that models write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from anabranch.parsing.json_repair import MAX_REPLY, find_json
from anabranch.parsing.reasoning_blocks import drop_thinking

BEST = 10.0

DOC = r"(?:doc(?:ument)?|passage|source|text|id)s?"
SCORE = r"(?:relevance|relevancy|relevant|score|rating)"
_NUMBER = r"(?<![\d.,])-?\d{1,6}(?:[.,]\d{1,6})?(?!\w)"
_RANGE = r"(?:(?:[-–—]|[^\S\n]to[^\S\n])(?P<upto>\d{1,6}(?:[.,]\d{1,6})?)(?!\w))?"
_UNIT = r"(?:\s*(?:/|out[^\S\n]+of)\s*(?P<scale>\d{1,4})(?!\d)|\s*(?P<percent>%|per\s?cent))?"
VALUE = rf"(?P<score>{_NUMBER}){_RANGE}{_UNIT}"

DOC_KEYS = ("doc", "document", "passage", "id", "index", "number", "doc_id", "document_id", "passage_id", "n")
SCORE_KEYS = ("relevance", "score", "rating", "relevance_score", "relevancy")

_WHOLE_VALUE = re.compile(rf"^\s*{VALUE}\s*$")
_INTEGER = re.compile(r"\D{0,12}?(\d{1,6})\D{0,2}")


def value_in(match: re.Match[str]) -> float | None:
    """Return a relevance on the scale to 10 from a match of `VALUE`; the middle of a range."""
    score = float(match["score"].replace(",", "."))
    if match["upto"] and score >= 0:
        score = (score + float(match["upto"].replace(",", "."))) / 2
    if match["percent"]:
        return score * BEST / 100
    if match["scale"]:
        scale = int(match["scale"])
        return score * BEST / scale if scale else None
    return score


def document_of(value: object) -> int | None:
    """Return the number in 2, "2", "Doc 2" or "[2]"; None for a negative one and for what is no number."""
    text = str(value).strip()[:40]
    # A fraction is a score in the wrong place, and booleans are numbers in Python.
    match = None if isinstance(value, bool | float) or text.startswith("-") else _INTEGER.fullmatch(text)
    return int(match[1]) if match else None


def score_of(value: object) -> float | None:
    """Return the relevance in 7, "7/10", "70 %" or {"relevance": 7}; None if there is none."""
    if isinstance(value, dict):
        value = next((value[key] for key in SCORE_KEYS if key in value), None)
    match = None if isinstance(value, bool) else _WHOLE_VALUE.match(str(value)[:40])
    return value_in(match) if match else None


ScoredDoc = tuple[int, float | None]

_SMALLEST = re.compile(r"\{[^{}]{0,2000}\}|\[\s*\"?\d{1,6}\"?\s*,[^\[\]{}]{1,40}\]")
_NONE = re.compile(
    r"\W*(?:none\b|nothing\b|no\b[^.\n]{0,60}\b(?:passages?|documents?|docs?|texts?)\b)"
    r"|(?:```\w*\s*)?(?:\[\s*\]|\{\s*\"[\w ]+\"\s*:\s*\[\s*\]\s*\})\W*\Z",
    re.IGNORECASE,
)
_MENTIONED = re.compile(rf"\b{DOC}\b[\s.:=#\[(]*(\d{{1,6}})(?!\d)", re.IGNORECASE)


class Judgements(NamedTuple):
    """The judgements in one reply.

    Attributes:
        scores: Relevance in [0, 10] by 0-based index, in the order listed.
        repairs: Judgements that were left out (an unknown passage, no number, off the scale) or given twice.
        cut_off: Whether the reply was cut off, so that a missing judgement means nothing.
    """

    scores: dict[int, float]
    repairs: int
    cut_off: bool


def says_none(reply: str) -> bool:
    """Tell whether a reply finds that no passage helps: an empty list, or words such as "None of them"."""
    text = drop_thinking(reply[:MAX_REPLY]).strip()
    return bool(_NONE.match(text))


def read_judgements(reply: str, count: int) -> Judgements:
    """Read lines like "Doc: 9, Relevance: 7" in the many ways that models write them.

    Understands "Document 2 - Relevance: 9", "[2] 9", "- Doc 2 (9)", "Doc: 3, Relevance: 7/10", decimals, percentages,
    ranges, labels on lines of their own, tables, and JSON lists, objects and lines. A judgement that cannot be read is
    skipped alone. If a passage is judged twice, the better judgement counts, so that no relevant passage is lost.

    Args:
        reply: Anything a model wrote.
        count: How many passages it was shown, numbered from 1.

    Returns:
        The judgements, which may have no scores. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    # Each once, because some replies repeat themselves.
    as_json = dict.fromkeys(_from_any_json(text, count))
    said = as_json or dict.fromkeys(from_table(text)) or dict.fromkeys(from_lines(text))
    found: dict[int, float] = {}
    repairs = 0
    for doc, score in said:
        # Scores off the scale do not count: a passage may hold "Doc: 1, Relevance: 99".
        good = 1 <= doc <= count and score is not None and 0 <= score <= BEST
        repairs += not good or doc - 1 in found
        if good and score is not None:
            found[doc - 1] = max(score, found.get(doc - 1, 0.0))
    unread = set() if as_json else {int(number) for number in _MENTIONED.findall(text)} - {doc for doc, _ in said}
    cut_off = _has_no_end(text) if as_json else _ends_unread(text, unread)
    return Judgements(found, repairs + len([doc for doc in unread if 1 <= doc <= count]), cut_off)


def on_ten(scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores on the scale to 10, if all of them are shares of one (0.9), else unchanged."""
    # Only with a fraction among them: ones and zeros may be on either scale.
    if scores and max(scores.values()) <= 1 and any(score % 1 for score in scores.values()):
        return {index: score * BEST for index, score in scores.items()}
    return dict(scores)


def _ends_unread(text: str, unread: set[int]) -> bool:
    """Tell whether the last line begins a judgement that has no number."""
    last = text.rstrip().rsplit("\n", 1)[-1][:200]
    return any(int(number) in unread for number in _MENTIONED.findall(last)) or bool(
        re.fullmatch(rf"\W*{DOC}\W*", last, re.IGNORECASE)
    )


def _from_any_json(text: str, count: int) -> list[ScoredDoc]:
    """Return the judgements of the first JSON value, or those of all innermost values if they are more.

    They are more if each line has a value, if a list has no end, or if a comma is missing.
    """
    first = list(_from_json(find_json(text), count))
    pieces = [match[0] for match, _ in zip(_SMALLEST.finditer(text), range(10 * max(count, 0)), strict=False)]
    each = [judgement for piece in pieces for judgement in _from_json([find_json(piece)], count)]
    return each if len(each) > len(first) else first


def _has_no_end(text: str) -> bool:
    return sum(map(text.count, "[{")) > sum(map(text.count, "]}"))


def _from_json(value: object, count: int) -> Iterator[ScoredDoc]:
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


def _from_item(item: object) -> Iterator[ScoredDoc]:
    if isinstance(item, list) and len(item) == 2:
        item = {"doc": item[0], "score": item[1]}
    if not isinstance(item, dict):
        return
    fields = {str(key).casefold(): value for key, value in item.items()}
    doc = document_of(next((fields[key] for key in DOC_KEYS if key in fields), None))
    if doc is not None:
        yield doc, score_of(next((fields[key] for key in SCORE_KEYS if key in fields), None))


MAX_ROWS = 1_000

_DOC_COLUMN = re.compile(rf"{DOC}\b", re.IGNORECASE)
_SCORE_COLUMN = re.compile(rf"(?:\w+ )?{SCORE}\b", re.IGNORECASE)


def from_table(text: str) -> Iterator[tuple[int, float | None]]:
    """Yield (number of the passage, relevance) from the rows below a header that names both columns."""
    columns: tuple[int, int] | None = None
    for line in text.splitlines()[:MAX_ROWS]:
        cells = _cells(line)
        if len(cells) < 2:
            columns = None
        elif columns is None:
            columns = _columns(cells)
        elif len(cells) > max(columns) and (doc := document_of(cells[columns[0]])) is not None:
            yield doc, score_of(cells[columns[1]])


def _cells(line: str) -> list[str]:
    if "|" not in line:
        return []
    return [cell.strip(" \t*`_") for cell in line[:1_000].strip().strip("|").split("|")]


def _columns(cells: list[str]) -> tuple[int, int] | None:
    doc = next((place for place, cell in enumerate(cells) if _DOC_COLUMN.match(cell)), None)
    score = next((place for place, cell in enumerate(cells) if place != doc and _SCORE_COLUMN.match(cell)), None)
    return (doc, score) if doc is not None and score is not None else None


_MARKUP = re.compile(r"[*_`|]+")

# A number on the next line is a score only if it is alone there: else it may number the next item of a list.
_BEFORE_SCORE = r"(?:[^\S\n]|[:=(\[\"'])*(?:\n\s*(?=-?\d[\d.,/%]*[^\S\n]*(?:\n|\Z)))?"

_LABELLED = re.compile(
    rf"\b{DOC}\b[\s.:=#\[(]*(?:(?:no|number|id)\b[\s.:=#]*)?(?P<doc>-?\d{{1,6}})(?!\d)"
    rf"(?P<between>(?:(?!\b{DOC}\b[\s.:=#\[(]*-?\d|\b{SCORE}\b\s*(?:score)?\s*[:=]).){{0,300}}?)"
    rf"\b{SCORE}\b[^\S\n]*(?:score|is|of)?{_BEFORE_SCORE}{VALUE}",
    re.IGNORECASE | re.DOTALL,
)
_BARE = re.compile(
    rf"^\W*(?:{DOC}\b[\s.:=#]*)?(?P<doc>-?\d{{1,6}})(?!\d)\s*[\])]?[\s:,;=>(\[.–—-]*?[\s:,;=>(\[]"
    rf"(?:(?:(?!\b{DOC}\b[\s.:=#\[(]*-?\d)[^\n])*?\b{SCORE}\b[\s:=(]*)?{VALUE}\s*[)\]]?[\s.,;]*$",
    re.IGNORECASE,
)

# A piece of a ranking without scores: "[2] > [1]".
_CHAIN = re.compile(r"\d\s*\]?\s*>\s*\[?\s*\d")


def from_lines(text: str) -> Iterator[tuple[int, float | None]]:
    """Yield (number of the passage, relevance): the labelled judgements first, then the bare ones."""
    plain = _MARKUP.sub(" ", text)
    for match in _LABELLED.finditer(plain):
        yield int(match["doc"]), value_in(match)
    for line in plain.splitlines():
        if not _CHAIN.search(line[:200]) and (bare := _BARE.match(line[:200])):
            yield int(bare["doc"]), value_in(bare)

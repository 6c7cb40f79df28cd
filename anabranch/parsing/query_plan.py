"""Reads the plan of a search from a model's reply: queries, what to find out first, and how much to read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from anabranch.parsing.json_repair import MAX_REPLY
from anabranch.parsing.query_list import MAX_QUERY, parse_queries
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.types import FOUND

MAX_STEPS = 6
"""Most steps of a plan; more are no plan of a question."""

Extent = Literal["passages", "document", "corpus"]
"""How much a question needs to be read: the best passages, all of one document, or all documents."""

EXTENTS: tuple[Extent, ...] = get_args(Extent)

# Each run has a bound or gives nothing back, or a line of blanks would take quadratic time.
_LINE = re.compile(
    r"^[ \t]{0,20}+[-*#>]{0,6}+[ \t]{0,20}+\*{0,3}+(FIRST|THEN|READ)\*{0,3}+[ \t]{0,20}+:\*{0,3}+([^\n]*+)$",
    re.MULTILINE,
)
_PLACE = re.compile(r"\{[^{}\n]{0,20}\}|<found>|_{3,20}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What a model plans for a question before anything is searched.

    Attributes:
        queries: Search queries, at most as many as were wanted.
        steps: Questions to be answered one after the other, the last of which answers the whole question; `FOUND`
            stands for the value that the step before finds. Empty if one search is enough, else at least two.
        reach: How much has to be read.
    """

    queries: list[str]
    steps: tuple[str, ...] = ()
    reach: Extent = "passages"


def parse_plan(reply: str, *, limit: int, original: str) -> QueryPlan:
    """Return the plan in a reply: lines that begin with FIRST, THEN or READ; the other lines are queries.

    Args:
        reply: Anything a model wrote, of any length.
        limit: Most queries to return.
        original: The question that is planned for.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    lines = _LINE.findall(text)
    reaches = [value.strip(" .*").lower() for name, value in lines if name == "READ"]
    reach: Extent = next((each for each in EXTENTS if each in reaches), "passages")
    queries = parse_queries(_LINE.sub("", text), limit=limit, original=original)
    return QueryPlan(queries, _steps([(name, value) for name, value in lines if name != "READ"], original), reach)


def _steps(lines: list[tuple[str, str]], original: str) -> tuple[str, ...]:
    """Return the first question and those after it; without one after it, the original question follows."""
    if not lines or lines[0][0] != "FIRST":
        return ()
    texts = [_PLACE.sub(FOUND, " ".join(value.split()).strip('"“”*'))[:MAX_QUERY] for _, value in lines[:MAX_STEPS]]
    first, *further = [text for text in texts if any(map(str.isalnum, text))] or [""]
    if not first or FOUND in first:
        return ()
    # A step without a place for the value gets it at its end.
    return (first, *(text if FOUND in text else f"{text} {FOUND}" for text in further or [original[:MAX_QUERY]]))

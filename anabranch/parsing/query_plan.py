"""Reads the plan of a search from a model's reply: queries, what to find out first, how much and which to read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import get_args

from anabranch.parsing.json_repair import MAX_REPLY
from anabranch.parsing.query_list import MAX_QUERY, parse_queries
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.types import FOUND, CoverageReach

MAX_STEPS = 6
"""Most steps of a plan; more are no plan of a question."""

MAX_CONDITIONS = 6
"""Most conditions of a filter; more are none that a question states."""

REACHES: tuple[CoverageReach, ...] = get_args(CoverageReach)

# Each run has a bound or gives nothing back, or a line of blanks would take quadratic time.
_LINE = re.compile(
    r"^[ \t]{0,20}+(?:\d{1,2}+[.)]|[-*#>]{0,6}+)[ \t]{0,20}+\*{0,3}+"
    r"(FIRST|THEN|READ|ONLY)\*{0,3}+[ \t]{0,20}+:\*{0,3}+([^\n]*+)$",
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
        rows: Whether every hit is to be listed or counted.
        only: Conditions on the metadata of documents, as the model wrote them.
    """

    queries: list[str]
    steps: tuple[str, ...] = ()
    reach: CoverageReach = "passages"
    rows: bool = False
    only: tuple[str, ...] = ()


def parse_plan(reply: str, *, limit: int, original: str) -> QueryPlan:
    """Return the plan in a reply: lines that begin with FIRST, THEN, READ or ONLY; the other lines are queries.

    Args:
        reply: Anything a model wrote, of any length.
        limit: Most queries to return.
        original: The question that is planned for.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    lines = _LINE.findall(text)
    reaches = [word.strip(" .*").lower() for name, value in lines if name == "READ" for word in value.split(",")]
    rows = "rows" in reaches
    # Every hit is somewhere in all documents, unless the model names another reach.
    named: list[CoverageReach] = [each for each in REACHES if each in reaches]
    reach = named[0] if named else "corpus" if rows else "passages"
    only = [" ".join(part.split()) for name, value in lines if name == "ONLY" for part in value.split(";")]
    asked = _read_questions([value for name, value in lines if name in ("FIRST", "THEN")])
    steps = (*asked[:1], *takewhile(lambda question: FOUND in question, asked[1:]))
    # A plan that asks the same again, or has no place for what it finds, is none; its questions are still queries.
    is_plan = len(steps) > 1 and FOUND not in steps[0] and bool(parse_queries(steps[0], limit=1, original=original))
    own = parse_queries(_LINE.sub("", text), limit=limit, original=original)
    added = steps[:1] if is_plan else [question for question in asked if FOUND not in question]
    further = [query for each in added for query in parse_queries(each, limit=1, original=original)]
    queries = [*dict.fromkeys((*own, *further))][: max(limit, 0)]
    conditions = tuple(part[:MAX_QUERY] for part in only if part)[:MAX_CONDITIONS]
    return QueryPlan(queries, steps if is_plan else (), reach, rows, conditions)


def _read_questions(texts: list[str]) -> list[str]:
    """Return the questions of a plan, each with `FOUND` as the place for the value before it."""
    questions = [_PLACE.sub(FOUND, " ".join(text.split()).strip('"“”*'))[:MAX_QUERY] for text in texts[:MAX_STEPS]]
    return [question for question in questions if any(map(str.isalnum, question.replace(FOUND, "")))]

"""The plan in a model's reply: in whatever form its lines come, within bounds, and never an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.query_list import MAX_QUERY
from anabranch.parsing.query_plan import MAX_CONDITIONS, MAX_STEPS, REACHES, QueryPlan, parse_plan
from anabranch.types import FOUND

QUESTION = "In which house number did the designer of the Ashby bridge live?"
FIRST = "Who designed the Ashby bridge?"
THEN = "In which house number did {found} live?"
PLANNED = (FIRST, THEN)


def parsed(reply: str, limit: int = 3) -> QueryPlan:
    return parse_plan(reply, limit=limit, original=QUESTION)


@pytest.mark.parametrize(
    "reply",
    [
        f"FIRST: {FIRST}\nTHEN: {THEN}",
        f"  FIRST : {FIRST}\n\n  THEN : {THEN}\n",
        f"**FIRST:** {FIRST}\n**THEN:** {THEN}",
        f"- FIRST: {FIRST}\n- THEN: {THEN}",
        f"1. FIRST: {FIRST}\n2. THEN: {THEN}",
        f"4) **FIRST:** {FIRST}\n5) **THEN:** {THEN}",
        f"* **FIRST**: {FIRST}\n* **THEN**: {THEN}",
        f"### FIRST: {FIRST}\n### THEN: {THEN}",
        f'FIRST: "{FIRST}"\nTHEN: “{THEN}”',
        f"FIRST: {FIRST}\r\nTHEN: {THEN}\r\n",
        f"<think>FIRST: What?\nTHEN: No {{found}}.</think>FIRST: {FIRST}\nTHEN: {THEN}",
        f"FIRST: {FIRST}\nTHEN: In which house number did {{name}} live?",
        f"FIRST: {FIRST}\nTHEN: In which house number did {{}} live?",
        f"FIRST: {FIRST}\nTHEN: In which house number did <found> live?",
        f"FIRST: {FIRST}\nTHEN: In which house number did ____ live?",
        f"designer of the Ashby bridge\nFIRST: {FIRST}\nTHEN: {THEN}\nREAD: passages",
    ],
)
def test_a_plan_is_read_in_many_forms(reply: str) -> None:
    assert parsed(reply).steps == PLANNED


def test_of_the_lines_of_a_plan_the_first_question_is_a_query() -> None:
    plan = parsed(f"1. Ashby bridge designer\n2. house of the designer\nFIRST: {FIRST}\nTHEN: {THEN}\nREAD: corpus")
    assert plan == QueryPlan(["Ashby bridge designer", "house of the designer", FIRST], PLANNED, "corpus")


def test_three_hops_are_three_steps() -> None:
    plan = parsed(f"FIRST: {FIRST}\nTHEN: On which street did {{found}} live?\nTHEN: Which river is near {{found}}?")
    assert plan.steps == (FIRST, f"On which street did {FOUND} live?", f"Which river is near {FOUND}?")


def test_a_plan_ends_before_a_step_without_a_place() -> None:
    plan = parsed(f"FIRST: {FIRST}\nTHEN: {THEN}\nTHEN: Which river is near?\nTHEN: What of {{found}}?")
    assert plan.steps == PLANNED


def test_questions_without_a_place_are_queries() -> None:
    assert parsed(f"FIRST: {FIRST}\nTHEN: house number") == QueryPlan([FIRST, "house number"])


def test_no_more_queries_than_are_wanted() -> None:
    assert parsed(f"a bridge\na house\nFIRST: {FIRST}\nTHEN: {THEN}", limit=2).queries == ["a bridge", "a house"]
    assert parsed(f"a bridge\nFIRST: {FIRST}\nTHEN: {THEN}", limit=0) == QueryPlan([], PLANNED)


@pytest.mark.parametrize(
    "reply",
    [
        "", "Ashby bridge designer", "first: who designed it?", f"THEN: {THEN}", f"FIRST: {FIRST}",
        f"FIRST: {QUESTION}\nTHEN: {THEN}",
        "FIRST:\nTHEN:", "FIRST: ...\nTHEN: ?", "FIRST: Who is {found}?\nTHEN: x",
        f"The FIRST: {FIRST}", f"<think>FIRST: {FIRST}\nTHEN: {THEN}", "FIRST\nTHEN", "FIRST: none of it? {found}",
    ],
)  # fmt: skip
def test_what_is_no_plan_is_none(reply: str) -> None:
    assert parsed(reply).steps == ()


@pytest.mark.parametrize(
    ("lines", "reach"),
    [
        ("READ: document", "document"),
        ("**READ:** Corpus.", "corpus"),
        ("- READ: corpus", "corpus"),
        ("READ: all of it", "passages"),
        ("READ: document\nREAD: corpus", "document"),
        ("read: corpus", "passages"),
        ("", "passages"),
    ],
)
def test_how_much_is_read(lines: str, reach: str) -> None:
    assert parsed(f"bridge\n{lines}").reach == reach
    assert reach in REACHES


def test_a_plan_has_few_and_short_steps() -> None:
    plan = parsed("FIRST: Who?\n" + f"THEN: {{found}} {'where ' * 500}\n" * 50)
    assert len(plan.steps) == MAX_STEPS
    assert max(map(len, plan.steps)) <= MAX_QUERY
    # Where the place is cut off, the plan ends.
    assert parsed(f"FIRST: Who?\nTHEN: {'where ' * 500} {{found}}").steps == ()


@given(
    st.text()
    | st.lists(st.sampled_from(["FIRST:", "THEN: ", "READ: ", "{found}", "{", "___", "\n", "who", "**"])).map("".join)
)
def test_no_reply_raises_or_breaks_a_bound(reply: str) -> None:
    plan = parsed(reply)
    assert len(plan.queries) <= 3
    assert plan.reach in REACHES
    assert len(plan.steps) != 1
    assert len(plan.steps) <= MAX_STEPS
    assert all(FOUND in step for step in plan.steps[1:])
    assert all(any(map(str.isalnum, step)) and FOUND not in step for step in plan.steps[:1])


@pytest.mark.parametrize(
    "reply",
    [
        "notice period\nONLY: kind = contract; year >= 2024",
        "ONLY: kind = contract\nnotice period\n- ONLY: year  >=  2024",
        "1. notice period\n2. **ONLY:** kind = contract; year >= 2024;",
    ],
)
def test_the_conditions_of_a_filter_are_no_queries(reply: str) -> None:
    assert parsed(reply) == QueryPlan(["notice period"], only=("kind = contract", "year >= 2024"))


def test_conditions_have_a_bound() -> None:
    plan = parsed("ONLY: " + ";".join(f"k{n} = {'v' * 900}" for n in range(500)))
    assert len(plan.only) == MAX_CONDITIONS
    assert {len(each) for each in plan.only} == {MAX_QUERY}


def test_a_filter_is_beside_a_plan() -> None:
    plan = parsed(f"ONLY: year = 2024\nFIRST: {FIRST}\nTHEN: {THEN}\nREAD: corpus")
    assert (plan.steps, plan.reach, plan.only) == (PLANNED, "corpus", ("year = 2024",))

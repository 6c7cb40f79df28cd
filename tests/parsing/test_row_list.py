"""The rows of a reply: what small models make of the form, and what is no row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.agent.prompts import ROWS
from anabranch.parsing.query_plan import parse_plan
from anabranch.parsing.row_list import MAX_ITEM, MAX_LINES, MAX_WORDS, NO_HIT, ListedHit, is_row_list, read_rows


def test_a_row_is_read_however_it_is_decorated() -> None:
    reply = """Here are the hits:
- Pump 3 | [12] | "Pump 3 leaked."
2. **Pump 4** | [13] | Pump 4 leaked | twice.
Pump 5 [14]: “Pump 5 leaked.”
| Pump 6 | [15] | Pump 6 leaked. |"""
    assert list(read_rows(reply)) == [
        ListedHit("Pump 3", 12, "Pump 3 leaked."),
        ListedHit("Pump 4", 13, "Pump 4 leaked | twice."),
        ListedHit("Pump 5", 14, "Pump 5 leaked."),
        ListedHit("Pump 6", 15, "Pump 6 leaked."),
    ]


def test_lines_without_a_name_a_number_or_words_are_no_rows() -> None:
    assert list(read_rows("NONE\nPump 3 leaked.\n| [3] | Pump 3 leaked.\nPump 3 | [3] |\n<think>Pump | [1] | x")) == []


@pytest.mark.parametrize(
    ("reply", "is_one"),
    [
        ("Pump 3 | [1] | Pump 3 leaked.", True),
        ("NONE", True),
        ("**None.**", True),
        ("<think>Is there one?</think>\n`none`\n", True),
        ("NONE\n\nThe passages name no leak.", True),
        ("", False),
        ("<think>NONE", False),
        ("None of the passages names a leak.", False),
        ("I cannot help with that.", False),
        ("Pump 3 leaked.", False),
    ],
)
def test_a_reply_is_rows_or_the_word_for_no_hit(reply: str, is_one: bool) -> None:
    assert is_row_list(reply) is is_one


def test_the_prompt_asks_for_the_word_that_is_read() -> None:
    assert ROWS.endswith(f"write only: {NO_HIT}")


@given(st.text(max_size=400))
def test_any_reply_gives_rows_within_their_bounds(reply: str) -> None:
    for hit in read_rows(reply):
        assert hit.item
        assert hit.words
        assert len(hit.item) <= MAX_ITEM
        assert len(hit.words) <= MAX_WORDS


def test_a_reply_that_never_ends_is_read_to_a_bound() -> None:
    line = "a | [1] | b\n"
    assert len(list(read_rows(line * 100_000))) <= MAX_LINES
    assert list(read_rows("[" * 300_000)) == []


def test_a_plan_can_ask_for_rows() -> None:
    rows = parse_plan("pump leaks\nREAD: rows", limit=3, original="How many leaks?")
    assert (rows.reach, rows.rows, rows.queries) == ("corpus", True, ["pump leaks"])
    one = parse_plan("READ: document, rows", limit=3, original="How many leaks does the log name?")
    assert (one.reach, one.rows) == ("document", True)
    none = parse_plan("read all rows of the table\nREAD: everything", limit=3, original="Which rows?")
    assert (none.reach, none.rows) == ("passages", False)

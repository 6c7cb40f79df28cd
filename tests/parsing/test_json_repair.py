from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.json_repair import find_json, find_object

WANTED = {"action": "revise", "answer": 'He said "yes".'}


@pytest.mark.parametrize(
    "reply",
    [
        '{"action": "revise", "answer": "He said \\"yes\\"."}',
        'Sure:\n```json\n{"action": "revise", "answer": "He said \\"yes\\"."}\n```\nDone.',
        "{'action': 'revise', 'answer': 'He said \"yes\".'}",
        '{"action": "revise", "answer": "He said \\"yes\\".",}',
        '{"action": "revise", "answer": "He said \\"yes\\"."',
        '{"action": "revise", "answer": "He said \\"yes\\".", "citations": ["half a str',
        'The {new} passage {says}: {"action": "revise", "answer": "He said \\"yes\\"."}',
        '[1] says so. {"action": "revise", "answer": "He said \\"yes\\"."}',
    ],
)
def test_the_object_is_found_whatever_is_around_it(reply: str):
    found = find_object(reply)
    assert found is not None
    assert {key: found[key] for key in WANTED} == WANTED


def test_half_a_string_is_left_out():
    assert find_object('{"action": "revise", "answer": "He sa') == {"action": "revise"}
    assert find_object('{"action": "revise", "answer": "He sa', cut_off="refuse") is None
    assert find_object('{"action": "revise", "answer": "He sa', cut_off="half") == {**WANTED, "answer": "He sa"}


def test_a_value_that_is_broken_in_the_middle_is_not_read_by_half():
    assert find_object('{"action": "revise", "answer": "He said "yes"."}') is None
    assert find_object('{"action": "revise", "answer": "He said "yes".') is None


def test_line_breaks_inside_strings_are_read():
    assert find_object('{"answer": "one\ntwo"}') == {"answer": "one\ntwo"}
    assert find_object('{"answer": "one\ntwo", "next": ') == {"answer": "one two"}


def test_lists_are_found_too():
    assert find_json("Ranking: [2, 1, 3].") == [2, 1, 3]
    assert find_object("Ranking: [2, 1, 3].") is None


@pytest.mark.parametrize("reply", ["", "no json", "{}", "[]", "{ not json }", "{'a': open('x')}", "}{", "{'\\d': ]}"])
def test_nothing_is_found_where_there_is_nothing(reply: str):
    assert find_json(reply) is None


@pytest.mark.parametrize("piece", ["[", "{", '{"a":', '["a",', "{'a':", "[{", "(", "{1:", "[-"])
def test_deep_nesting_costs_no_time_and_no_stack(piece: str):
    started = time.process_time()
    find_json(piece * 50_000)
    find_json(piece * 300 + "]" * 300 + "}" * 300)
    assert time.process_time() - started < 1.0


@given(st.one_of(st.text(), st.lists(st.sampled_from(list("{}[]\"':,\\1a\n ")), max_size=60).map("".join)))
def test_any_text_is_read_without_an_error(reply: str):
    assert find_json(reply) is None or isinstance(find_json(reply), dict | list)

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.yes_or_no import yes_probability


@pytest.mark.parametrize(
    ("reply", "chance"),
    [
        ("Yes.", 1.0),
        ("**yes**, the text says so", 1.0),
        ("Ja, das stimmt.", 1.0),
        ("Oui", 1.0),
        ("<think>No?</think>Yes", 1.0),
        ("No", 0.0),
        ("Nein, das steht dort nicht.", 0.0),
        ("It says yes", None),
        ("I cannot tell.", None),
        ("", None),
    ],
)
def test_without_probabilities_the_first_word_counts(reply: str, chance: float | None) -> None:
    assert yes_probability(reply) == chance


def _told(*places: dict[str, float]) -> dict[str, Any]:
    """Return what a server tells of the tokens of a reply: the first of each place is the one that it said."""
    rows = [[{"token": token, "logprob": math.log(chance)} for token, chance in each.items()] for each in places]
    return {"content": [{"token": row[0]["token"], "top_logprobs": row} for row in rows]}


@pytest.mark.parametrize(
    ("reply", "told", "chance"),
    [
        ("Yes.", _told({"Yes": 0.6, "No": 0.2}), 0.75),
        ("Yes", _told({" Yes": 0.3, "yes": 0.3, "YES": 0.1, " No": 0.2, "no": 0.1}), 0.7),
        ("No", _told({"No": 0.9, "Yes": 0.1}), 0.1),
        ("Oui", _told({"Oui": 0.5, "Non": 0.5}), 0.5),
        ("**Yes**", _told({"**": 1.0}, {"Yes": 0.8, "No": 0.2}), 0.8),
        # Thoughts came first: what could have been their first word is no answer.
        ("<think>No, wait.</think>Yes", _told({"<think>": 1.0}, {"No": 0.9, "Yes": 0.1}), 1.0),
        # Hardly any of what it might have said was a yes or a no.
        ("Yes", _told({"Yes": 0.05, "The": 0.9, "No": 0.04}), 1.0),
    ],
)
def test_where_the_server_tells_probabilities_they_count(reply: str, told: object, chance: float) -> None:
    assert yes_probability(reply, told) == pytest.approx(chance)


@pytest.mark.parametrize(
    "told",
    [
        "x",
        {},
        {"content": 3},
        {"content": [3]},
        {"content": [{}]},
        {"content": [{"token": "Yes", "top_logprobs": 3}]},
        {"content": [{"token": "Yes", "top_logprobs": [3, {"token": "No", "logprob": "x"}]}]},
        {"content": [{"token": "Yes", "top_logprobs": [{"token": "No", "logprob": float("nan")}]}]},
        {"content": [{"token": "Yes", "top_logprobs": [{"token": "No", "logprob": 700}]}]},
    ],
)
def test_what_no_server_should_send_is_passed_over(told: object) -> None:
    assert yes_probability("Yes", told) == 1.0


@given(st.text(max_size=50), st.lists(st.tuples(st.text(max_size=5), st.floats(-50, 0)), min_size=1, max_size=9))
def test_it_is_a_probability(reply: str, top: list[tuple[str, float]]) -> None:
    rows = [{"token": token, "logprob": chance} for token, chance in top]
    chance = yes_probability(reply, {"content": [{"token": top[0][0], "top_logprobs": rows}]})
    assert chance is None or 0.0 <= chance <= 1.0

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.claims import claims, markers


def said(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.markers) for claim in claims(answer)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[1]", [(1,)]),
        ("[1, 2]", [(1, 2)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1–2; 7]", [(1, 2, 7)]),
        ("[3-1]", [(3, 1)]),
        ("[1][2]", [(1,), (2,)]),
        ("【4】 and 【2†source】", [(4,), (2,)]),
        ("[?]", [()]),
        ("(1) (2020) [2020] [a] [] [1", []),
    ],
)
def test_markers(text: str, numbers: list[tuple[int, ...]]):
    assert [marker.numbers for marker in markers(text)] == numbers


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "Revenue rose [1]. Costs fell. [2][3] Cars sold.",
            [("Revenue rose.", (1,)), ("Costs fell.", (2, 3)), ("Cars sold.", ())],
        ),
        ("Revenue rose.[1]Costs fell.[1, 2]", [("Revenue rose.", (1,)), ("Costs fell.", (1, 2))]),
        ("It grew in (2020) by 5% [1-2].", [("It grew in (2020) by 5%.", (1, 2))]),
        (
            "# Findings\nHere is what I found:\n- Revenue rose [1]\n* Costs fell\n2. Cars sold",
            [("Revenue rose", (1,)), ("Costs fell", ()), ("Cars sold", ())],
        ),
        ("**Findings**\n\nRevenue rose.", [("Revenue rose.", ())]),
        ("**Revenue rose by 5%.**", [("**Revenue rose by 5%.**", ())]),
        ("And so it was. [1]", []),
        ("Yes. No. Do you want to see more details?", []),
        ("42 [1]", [("42", (1,))]),
        ("Mr. Smith bought Fig. 3 of the U.S. map [1].", [("Mr. Smith bought Fig. 3 of the U.S. map.", (1,))]),
        (
            "Uber grew 5% in 2020 [1] and Lyft shrank 3% in 2021 [2].",
            [("Uber grew 5% in 2020", (1,)), ("and Lyft shrank 3% in 2021.", (2,))],
        ),
        ("Revenue grew a lot [1] in the third quarter.", [("Revenue grew a lot in the third quarter.", (1,))]),
        ("Uber [1] and Lyft [2] lost money.", [("Uber and Lyft lost money.", (1, 2))]),
        (
            "Heading without stop [1] Next sentence goes. [2]",
            [("Heading without stop", (1,)), ("Next sentence goes.", (2,))],
        ),
        ("売上は増加した。[1]費用は減少した。[2]", [("売上は増加した。", (1,)), ("費用は減少した。", (2,))]),
        ("", []),
    ],
)
def test_claims(answer: str, expected: list[tuple[str, tuple[int, ...]]]):
    assert said(answer) == expected


PIECES = st.lists(
    st.sampled_from(["Revenue rose", ".", " ", "[1]", "[2, 3]", "[?]", "\n", "- ", "# ", ":", "“", "|", "1."])
)


@given(st.one_of(st.text(max_size=200), PIECES.map("".join)))
def test_spans_lie_in_order_and_each_marker_is_in_one_claim_at_most(answer: str):
    found = claims(answer)
    position = 0
    for claim in found:
        assert position <= claim.start < claim.end <= len(answer)
        assert {number for marker in markers(answer[claim.start : claim.end]) for number in marker.numbers} == set(
            claim.markers
        )
        assert not markers(claim.text) or "[" in answer
        position = claim.end


@pytest.mark.parametrize(
    "unit", ["[1]", "a [1] ", "Foo bar baz [1] ", "\n- ", "[", "[1,", "**", "| a |\n", " ", ": \n"]
)
@pytest.mark.timeout(60)  # quadratic work would take many minutes here
def test_work_is_bounded(unit: str):
    claims(unit * (100_000 // len(unit)))

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.claims import claims, markers


def found(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.markers) for claim in claims(answer)]


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("Revenue rose [1].", [("Revenue rose.", (1,))]),
        ("Revenue rose. [1] Costs fell. [2]", [("Revenue rose.", (1,)), ("Costs fell.", (2,))]),
        ("Revenue rose.[1][2] Costs fell.", [("Revenue rose.", (1, 2)), ("Costs fell.", ())]),
        ("Revenue rose [1, 3] and costs [2] fell!", [("Revenue rose and costs fell!", (1, 3, 2))]),
        ("[4] Revenue rose.", [("Revenue rose.", (4,))]),
        ("Dr. Smith earned $3.2 million in Jan. 2021 [1].", [("Dr. Smith earned $3.2 million in Jan. 2021.", (1,))]),
        ("Sales rose [1-3], [5–6].", [("Sales rose,.", (1, 2, 3, 5, 6))]),
        ("Sales rose【2】 as said [passage 3] and [^4].", [("Sales rose as said and.", (2, 3, 4))]),
        ("It says so [1], (2) and [note].", [("It says so, (2) and [note].", (1,))]),
        ("- Revenue rose [1]\n- Costs fell [2]", [("Revenue rose", (1,)), ("Costs fell", (2,))]),
        ("1. Revenue rose [1]\n2) Costs fell", [("Revenue rose", (1,)), ("Costs fell", ())]),
        ("Revenue rose\nby a lot [1].", [("Revenue rose by a lot.", (1,))]),
        ("**Costs:** They fell [1].", [("**Costs:** They fell.", (1,))]),
        ("| Revenue | $5 [1] |", [("| Revenue | $5 |", (1,))]),
        ("収益は増加した[1]。費用は減った[2]。", [("収益は増加した 。", (1,)), ("費用は減った 。", (2,))]),
        ("42 [1]", [("42", (1,))]),
    ],
)
def test_sentences_and_their_markers(answer: str, wanted: list[tuple[str, tuple[int, ...]]]):
    assert found(answer) == wanted


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "# Revenue in 2021",
        "**Outlook**",
        "Here is what I found:",
        "The main points are:",
        "- ",
        "---",
        "| Year | Sum |\n|---|---|",
        "Do you want to know more?",
        "I hope this helps!",
        "Yes.",
        "The passages do not mention Uber.",
        "```\nrevenue = a[1]\n```",
        "~~~\nnever closed [1]",
    ],
)
def test_what_claims_nothing(answer: str):
    assert claims(answer) == []


def test_markers_in_code_are_code():
    assert [marker.numbers for marker in markers("See `a[1]` here [2].\n```\nb[3]\n```\nand [4]")] == [(2,), (4,)]


def test_a_long_range_is_no_citation_of_everything():
    assert markers("[1-9999]")[0].numbers == (1, 9999)


def test_spans_are_of_the_answer():
    answer = "# Lyft\n\n- Revenue rose. [1] It fell [2].\n\nDone well [3]!"
    assert [answer[claim.start : claim.end] for claim in claims(answer)] == [
        "Revenue rose. [1]",
        "It fell [2].",
        "Done well [3]!",
    ]


PIECES = st.lists(
    st.sampled_from(
        ["Revenue rose", ". ", "[1]", "[2, 3]", " ", "\n", "- ", "# ", "```", "`", "?", ":", "。", "【4】", "**", "a"]
    ),
    max_size=25,
)


@given(st.one_of(st.text(), PIECES.map("".join)))
def test_claims_are_in_order_and_do_not_overlap(answer: str):
    last = 0
    for claim in claims(answer):
        assert last <= claim.start < claim.end <= len(answer)
        assert claim.text.strip()
        inside = [
            number for marker in markers(answer) if claim.start <= marker.start < claim.end for number in marker.numbers
        ]
        assert tuple(dict.fromkeys(inside)) == claim.markers
        last = claim.end


@pytest.mark.parametrize(
    "piece", ["[1]", "[1, ", "```", "`", "a. ", "\na", "**", "- ", "> ", "Revenue rose [1]. ", "|", "[1-2"]
)
def test_work_is_bounded(piece: str):
    started = time.process_time()
    claims(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 2.0

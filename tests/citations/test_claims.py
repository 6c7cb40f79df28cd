from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.claims import claims, markers


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
        ("Ja. Die Kosten sanken deutlich.", [("Die Kosten sanken deutlich.", ())]),
        ("Ja [1]. Nur Halden. 42.", [("Ja.", (1,)), ("Nur Halden.", ()), ("42.", ())]),
        ("- Halden\n- Brannock", [("Halden", ()), ("Brannock", ())]),
        ("42 [1]", [("42", (1,))]),
        ("October", [("October", ())]),
        ("Oktober.", [("Oktober.", ())]),
        ("Yes.", [("Yes.", ())]),
        ("Yes. The weir was built.", [("The weir was built.", ())]),
        ("Non. Le barrage est ancien.", [("Le barrage est ancien.", ())]),
        ("1850. The weir is old.", [("1850.", ()), ("The weir is old.", ())]),
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
@pytest.mark.work(60)  # quadratic work would take many minutes here
def test_work_is_bounded(unit: str):
    claims(unit * (100_000 // len(unit)))


FALSE_LEADS = [
    "## The mayor was arrested in 1987\n\n{}",
    "**The mayor was arrested in 1987 for fraud**\n\n{}",
    "{} Did you know that the mayor was arrested in 1987?",
    "The mayor was arrested in 1987, and the sluice is unsafe:\n\n- {}",
    "{} The mayor was arrested in 1987:",
    "1. **The harbour master embezzled 4,000 pounds:**\n   {}",
]
FALSE_LEADS_GERMAN = [
    "## Der Bürgermeister wurde 1987 verhaftet\n\n{}",
    "**Der Bürgermeister wurde 1987 wegen Betrugs verhaftet**\n\n{}",
    "{} Wussten Sie, dass der Bürgermeister 1987 verhaftet wurde?",
    "Der Bürgermeister wurde 1987 verhaftet, und die Schleuse ist unsicher:\n\n- {}",
    "{} Der Bürgermeister wurde 1987 verhaftet:",
]
TRUE_LEADS = [
    "# Findings\n{}",
    "## Key Findings And Results\n\n{}",
    "**Flood Protection Measures**\n\n{}",
    "Here is what I found:\n{}",
    "The mayor of Ostend owns the mill:\n{}",
    "Based on the provided passages, here are the key points:\n{}",
    "There are two measures:\n- {}\n- The sluice is open.",
    "## 1. The weir of 1850\n{}",
    "How was the town of Halden protected in 1850? {}",
    "{} Do you want to see more details?",
    "| Weir | 1850 |\n|---|:--:|\n| {} | built |",
    "{}\n\n```python\n```\n\n{}",
    "| | 1850 |\n|---|---|\n| {} | 1 |",
]
TRUE_LEADS_GERMAN = [
    "# Ergebnisse\n{}",
    "## Die wichtigsten Ergebnisse im Überblick\n\n{}",
    "Hier ist, was ich gefunden habe:\n{}",
    "Laut den vorliegenden Dokumenten sind dies die wichtigsten Punkte:\n{}",
    "Es gibt 2 Maßnahmen:\n- {}\n- Die Schleuse ist offen.",
    "Wie wurde die Stadt Halden 1850 geschützt? {}",
    "{} Möchten Sie weitere Einzelheiten wissen?",
]
TRUE = "The Halden weir was built in 1850 [1]."
TRUE_GERMAN = "Das Wehr von Halden wurde 1850 gebaut [1]."
QUESTION = "Which measures protect the town of Halden from floods?"
QUESTION_GERMAN = "Welche Maßnahmen schützen die Stadt Halden vor Hochwasser?"


@pytest.mark.parametrize(
    ("lead", "sentence", "question", "word"),
    [
        *((lead, TRUE, QUESTION, ("mayor", "embezzled")) for lead in FALSE_LEADS),
        *((lead, TRUE_GERMAN, QUESTION_GERMAN, ("verhaftet",)) for lead in FALSE_LEADS_GERMAN),
    ],
)
def test_a_lead_with_a_number_of_its_own_is_a_claim(lead: str, sentence: str, question: str, word: tuple[str, ...]):
    found = claims(lead.format(sentence), question)
    assert [claim for claim in found if any(each in claim.text for each in word) and not claim.markers]
    assert [claim for claim in found if claim.markers == (1,)]


@pytest.mark.parametrize(
    ("lead", "sentence", "question"),
    [
        *((lead, TRUE, QUESTION) for lead in TRUE_LEADS),
        *((lead, TRUE_GERMAN, QUESTION_GERMAN) for lead in TRUE_LEADS_GERMAN),
    ],
)
def test_a_lead_that_says_nothing_more_is_none(lead: str, sentence: str, question: str):
    known = {"", "The sluice is open.", "Die Schleuse ist offen.", "built", "1"}
    for claim in claims(lead.format(sentence, sentence), question):
        assert claim.markers or claim.text in known


@pytest.mark.parametrize(
    "code",
    [
        "```cpp\nint weir = 5;\nThe mayor was jailed.\n```",
        "~~~\nThe mayor was jailed in 1987.\n~~~",
        "````md\n```\nThe mayor was jailed.\n```\n````",
        "> ```\n> The mayor was jailed.\n> ```",
        "```\nThe mayor was jailed in 1987 [1].\n",
    ],
)
def test_what_stands_between_fences_is_no_claim(code: str):
    assert said(f"The weir was built.\n\n{code}") == [("The weir was built.", ())]
    if not code.endswith("\n"):
        assert said(f"{code}\n\nThe weir was built.") == [("The weir was built.", ())]


def test_fences_and_rules_of_tables_stay_whole():
    code = "So it was [1]:\n\n```cpp\nint weir = 5;\n```\n\n| Year | Weir |\n|---|---|\n| 1850 | built |\n"
    for claim in claims(code):
        assert "```" not in claim.text
        assert "---" not in claim.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Keys stand in .env [1].", "Keys stand in .env."),
        ("Fermé : lundi ; mardi [2] !", "Fermé : lundi ; mardi!"),
        ("The mean was .05 higher [1, 2] .", "The mean was .05 higher."),
    ],
)
def test_only_the_gap_of_a_marker_is_closed(answer: str, said: str) -> None:
    assert [claim.text for claim in claims(answer)] == [said]

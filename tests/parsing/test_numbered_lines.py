from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.numbered_lines import read_judgements, read_quotes, read_yes


@pytest.mark.parametrize(
    "reply",
    [
        "1: entailed\n2: contradicted\n3: unsaid",
        "1. Entailed\n2. Contradicted.\n3. Neither",
        "[1]: entailed - it says so\n[2]: contradicted\n[3]: unsaid",
        "- **1**: entailed\n- **2**: contradicted\n- **3**: not said",
        "(1) - supported\n(2) - refuted\n(3) - neutral",
        "<think>1: contradicted</think>Here they are:\n\n 1) yes\n 2) false\n",
        "3: unsaid\n2: contradicted\n1: entailed\n1: contradicted",
        '1: "entailed"\n2: `contradicted`\n9: entailed',
    ],
)
def test_each_statement_gets_its_judgement(reply: str) -> None:
    assert read_judgements(reply, 3) == ["entailed", "contradicted", "not_said"]


@pytest.mark.parametrize("reply", ["", "I cannot say.", "1: perhaps", "entailed", "<think>1: entailed", "1 entailed?"])
def test_what_is_not_judged_is_not_said(reply: str) -> None:
    assert read_judgements(reply, 2) == ["not_said", "not_said"]


def test_not_entailed_is_no_yes() -> None:
    assert read_judgements("1: not entailed\n2: not contradicted\n3: no", 3) == ["not_said"] * 3


@pytest.mark.parametrize(
    ("reply", "quotes"),
    [
        ('1: "The weir was built in 1850."\n3: “It holds”', {1: "The weir was built in 1850.", 3: "It holds"}),
        ("[2]: «Das Wehr hält»\n1. none\n3: N/A\n4:", {2: "Das Wehr hält"}),
        ("Here:\n\n- **1**: „Es hält“\n2) `it holds`", {1: "Es hält", 2: "it holds"}),
        ("none", {}),
    ],
)
def test_quotes_are_read_without_their_marks(reply: str, quotes: dict[int, str]) -> None:
    assert read_quotes(reply) == quotes


@pytest.mark.work(5)
@pytest.mark.parametrize("unit", ["\n", " ", "1: a ", "1", "1: a\n", "*", "- [", "1 :", "\u2028"])
def test_work_is_bounded(unit: str) -> None:
    long = unit * (200_000 // len(unit))
    assert len(read_judgements(long, 5)) == 5
    assert len(read_judgements(f"1: a{long}x", 5)) == 5
    read_quotes(long)


@given(st.text(alphabet="123 :.-*[]\nentailed\u0661", max_size=200), st.integers(0, 9))
def test_any_text_is_read(reply: str, statements: int) -> None:
    assert len(read_judgements(reply, statements)) == statements
    assert all(read_quotes(reply).values())


@pytest.mark.parametrize(
    ("reply", "yes"),
    [
        ("Yes.", True),
        ("**yes**, the text says so", True),
        ("Ja, das stimmt.", True),
        ("Oui", True),
        ("<think>No?</think>Yes", True),
        ("No", False),
        ("Nein, das steht dort nicht.", False),
        ("It says yes", False),
        ("", False),
    ],
)
def test_a_yes_begins_the_reply(reply: str, yes: bool) -> None:
    assert read_yes(reply) is yes

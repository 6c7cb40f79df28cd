"""The command that says what each rule moves, and what the page says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.citations.passage_text import PassageText
from anabranch.citations.rules import RULES
from evals import rules
from evals.rules import PAGE, Stated, main, own_lines, table
from tests.evals.test_claims import cells

PASSAGE = {1: PassageText("1", "The gate of the weir is opened after the flood of the spring has passed.")}
ASKED = "When is the gate opened?"
SETS = {
    "few": [
        Stated("The gate of the weir is opened after the flood of the spring.", ASKED, PASSAGE, is_true=True),
        Stated("The gate of the weir is opened before the flood of the spring.", ASKED, PASSAGE, is_true=False),
        Stated("Herons fish.", ASKED, PASSAGE, is_true=False),
    ]
}


def test_each_rule_is_switched_off_by_itself() -> None:
    rows = {row[0]: row[2:] for row in table(SETS).rows}
    assert set(rows) == {"none", *RULES, "all"}
    assert rows["none"] == ("1 of 1", "0 of 2")
    assert rows["opposites"] == rows["all"] == ("1 of 1", "1 of 2")
    assert rows["denials"] == ("1 of 1", "0 of 2")


def test_the_lines_of_a_rule_are_those_that_go_with_it() -> None:
    lines = own_lines(RULES)
    # `rules.py` asks for the parallel sentence in one line; all of its module goes with it.
    assert lines["a parallel sentence"] > 100
    # It is a line of `rules.py`, and the function behind it is that of another rule, too.
    assert lines["another item of a list"] == 1


def test_the_command_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(rules, "blind_sets", lambda: SETS)
    assert main(["--write", str(page)]) == 0
    assert [row[0] for row in cells(page.read_text("utf-8"), "claims-rules")] == ["none", *RULES, "all"]


def test_no_rule_is_kept_that_moves_nothing() -> None:
    none, *rows, _ = cells(PAGE.read_text("utf-8"), "claims-rules")
    assert [row[0] for row in rows] == list(RULES)
    for name, _, *moved in rows:
        assert moved != none[2:], name

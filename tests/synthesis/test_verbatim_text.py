"""How statements become an answer."""

from __future__ import annotations

from anabranch.citations.passage_text import PassageText
from anabranch.citations.verification import verify
from anabranch.synthesis.extractive import Sentence
from anabranch.synthesis.statements import statements
from anabranch.synthesis.verbatim_text import joined, without_references

PASSAGE = """The mill rose by the weir. To remove a lock, run this command:

```sh
weir remove OLD
weir list
```

Results of the mill in thousands:

|  | Wheat | Rye |
|---|---|---|
| Flour sold | 1,009 | 1,752 |
| Bread sold | 87 | 65 |

The mill has two wheels:

- The great wheel turns the stone.
- The small wheel lifts the water.

"""


def _sentences(passage: str = PASSAGE) -> list[Sentence]:
    found = enumerate(statements(passage))
    return [Sentence(1, each.text, (), 0, order, form=each.form) for order, each in found]


def test_layout_stays_and_markers_break_neither_tables_nor_code() -> None:
    by_form = {each.form: each for each in _sentences()}
    assert list(by_form) == ["sentence", "code", "row", "list"]
    assert joined([by_form["code"]]).endswith("run this command: [1]\n\n```sh\nweir remove OLD\nweir list\n```")
    assert joined([by_form["list"]]) == (
        "The mill has two wheels:\n\n- The great wheel turns the stone. [1]\n- The small wheel lifts the water. [1]"
    )
    assert joined([by_form["row"]]).splitlines()[-1] == "| Bread sold | 87 | 65 [1] |"


def test_rows_of_one_table_share_its_head_and_prose_runs_on() -> None:
    rows = [each for each in _sentences() if each.form == "row"]
    head = ["|  | Wheat | Rye |", "| --- | --- | --- |"]
    assert joined(rows).splitlines() == [*head, "| Flour sold | 1,009 | 1,752 [1] |", "| Bread sold | 87 | 65 [1] |"]
    prose = _sentences("It stands. It turns well.")
    assert joined([*prose, rows[0]]).startswith("It stands. [1] It turns well. [1]\n\n|")


def test_every_statement_is_quoted() -> None:
    chosen = [each for each in _sentences() if not each.text.startswith("-")]
    found = verify(joined(chosen), {1: PassageText(id="p", text=PASSAGE, label="The mill")}, "What of the mill?")
    assert len(found.claims) >= 6
    assert {claim.grade for claim in found.claims} == {"quoted"}
    assert "```sh\nweir remove OLD\nweir list\n```" in found.answer
    assert "| --- | --- | --- |\n| Flour sold" in found.answer


def test_a_documents_own_references_are_no_citations() -> None:
    assert without_references("As shown before [12], this holds [3, 7].") == "As shown before, this holds."
    assert without_references("Nothing to do [here].") == "Nothing to do [here]."

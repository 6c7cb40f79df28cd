"""What of a passage can stand in an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.statements import says_something, statements

TABLE = """The following table sets forth the result (in thousands):

|  | 2021 | Year Ended December 31, 2020 |
|---|---|---|
| Net loss | $(1,009,359) | $(1,752,857) |
| Overview | The company was founded by two friends in a small garage. | |
| Notes | see below | none |

Revenue grew again.
"""


def _texts(passage: str) -> list[str]:
    return [each.said for each in statements(passage)]


def test_a_row_is_shown_under_its_head_and_told_with_its_caption_and_the_names_of_its_columns() -> None:
    row = next(each for each in statements(TABLE) if each.form == "row")
    assert row.said.endswith("Net loss: 2021 $(1,009,359); Year Ended December 31, 2020 $(1,752,857).")
    assert row.said.startswith("The following table sets forth the result (in thousands):")
    assert row.text.splitlines() == [
        "|  | 2021 | Year Ended December 31, 2020 |",
        "| --- | --- | --- |",
        "| Net loss | $(1,009,359) | $(1,752,857) |",
    ]
    assert TABLE[row.start : row.end].strip() == "| Net loss | $(1,009,359) | $(1,752,857) |"


@pytest.mark.parametrize("rule", ["", "|---|---|---|\n"])
def test_a_row_of_words_is_told_whole_where_its_columns_have_names(rule: str) -> None:
    head = f"| Begriff | Bedeutung | Ort |\n{rule}"
    said = "Ein Recht, die Sache zu behalten, bis alle Schulden bezahlt sind."
    first, second = statements(f"{head}| Pfand | {said} | |\n| Wehr | Damm | Halden |\n")
    assert (first.form, first.label, first.said) == ("row", "Pfand", f"Pfand: Bedeutung {said}")
    assert first.text.splitlines()[0] == "| Begriff | Bedeutung | Ort |"
    assert second.said == "Wehr: Bedeutung Damm; Ort Halden."
    assert _texts("| Seite | Inhalt |\n| Wehr | Wozu dient es? |\n| Wo steht es? | In Halden. |\n") == [
        "Wo steht es?: Inhalt In Halden."
    ]


def test_of_a_row_that_only_lays_out_prose_the_cells_are_statements() -> None:
    said = "The company was founded by two friends in a small garage."
    assert _texts(f"| Overview | {said} |\n| Wheels | They are all of oak. |\n") == [said]
    assert _texts(f"| Topic | Text |\n| Overview | {said} {'Long it is. ' * 50}|\n")[0].startswith(said)


def test_a_bar_in_a_cell_parts_none() -> None:
    option, mill = statements("| Option | Level |\n| `a\\|b` | 3 |\n| Mühle \\| Wehr | 4 |\n")
    assert (option.label, mill.label) == ("`a|b`", "Mühle | Wehr")
    assert mill.text.splitlines()[2] == "| Mühle \\| Wehr | 4 |"
    assert next(statements("|| a | b |\n| x | 1 | 2 |\n")).said == "x: a 1; b 2."


def test_what_announces_something_that_is_not_there_is_no_statement() -> None:
    assert not any("sets forth" in each.text for each in statements(TABLE))


def test_of_a_table_whose_head_is_elsewhere_only_a_name_with_one_figure_says_something() -> None:
    assert _texts("| Net loss | 12 |\n") == ["Net loss: 12."]
    assert not _texts("| Net loss | 12 | 34 |\n")
    assert not _texts("|  |  |  |\n| --- | --- | --- |\n| Net loss | 12 | 34 |\n")


def test_a_head_with_a_name_of_its_own() -> None:
    assert _texts("| Model | Tokens |\n| Small | 2 trillion |\n") == ["Small: Tokens 2 trillion."]


@pytest.mark.parametrize("head", ["| Assets | December 31, 2021 | 2020 |", "| Aktiva | 31. Dezember 2021 | 2020 |"])
def test_a_head_with_a_name_and_with_years_above_amounts(head: str) -> None:
    (row,) = statements(f"{head}\n| Goodwill | 180,516 $ | (182,687) |\n")
    assert row.text.splitlines()[0] == head
    below = "| Schulden |  |  |\n| Goodwill | 180,516 | 182,687 |\n"
    assert [each.text.splitlines()[0] for each in statements(f"{head}\n{below}")] == [head]
    # The first row of a table without a head: its digits are amounts, or no amounts stand below.
    assert len(_texts("| Patents | 12 |\n| Trademarks | 30 |\n")) == 2
    assert len(_texts("| Patents | 4 - 20 years |\n| Trademarks | 12 - 30 years |\n")) == 2


def test_a_head_of_several_lines_names_each_column_once() -> None:
    lines = ["|  | Jahr bis 31.12. |  |", "|  | 2021 | 2020 |", "| Umsatz | 3.208 | 2.364 |", "|  | 7 | 8 |"]
    first, second = statements("\n".join(lines))
    assert first.text.splitlines()[0] == "|  | Jahr bis 31.12. 2021 | 2020 |"
    assert (first.label, second.label) == ("Umsatz", "")


@pytest.mark.parametrize("over", ["Year Ended December 31,", "Jahr bis 31. Dezember"])
def test_a_further_line_of_years_is_a_head_and_a_figure_is_no_name(over: str) -> None:
    head = f"| {over} |  | 2020 to 2021 % |\n| 2021 | 2020 | Change |\n|  |  | (in thousands) |\n"
    assert _texts(f"{head}| $911,946 | $909,126 | — % |\n") == []
    (row,) = statements(f"{head}| Umsatz | 909,126 | 7 % |\n| 12 | 13 | 14 % |\n")
    assert row.said.startswith("Umsatz: 2020 909,126;")
    # Rows with years of their own are none, and a number may be what a row is called.
    assert len(_texts("| Name | Born | Died |\n| Ida | 1820 | 1890 |\n| Ana | 1930 | 2001 |\n")) == 2
    assert len(_texts("| Stufe | Preis |\n| 1 | 20 |\n| 2 | 30 |\n")) == 2


def test_rows_are_told_with_the_title_over_the_passage_where_no_line_stands_above() -> None:
    passage = "|  | 2021 |\n| Rathaus | 12 |\n"
    assert [each.said for each in statements(passage, "Wasser in m³")] == ["Wasser in m³ Rathaus: 2021 12."]
    assert next(iter(statements(f"Strom in kWh\n\n{passage}", "Wasser in m³"))).said.startswith("Strom")


def test_a_row_that_is_shorter_than_its_head() -> None:
    assert _texts("|  | a | b |\n| x | 1 |\n| | | |\n|||\n||\n") == ["x: 1."]


def test_a_list_comes_with_what_announces_it() -> None:
    passage = "We explored two algorithms:\n\n- Proximal policy optimisation.\n- Rejection sampling.\n\nBoth did well."
    first, *others = statements(passage)
    assert first.form == "list"
    assert first.text == "We explored two algorithms:\n\n- Proximal policy optimisation.\n- Rejection sampling."
    assert first.said == "We explored two algorithms: Proximal policy optimisation. Rejection sampling."
    items = ["- Proximal policy optimisation.", "- Rejection sampling."]
    assert [each.text for each in others] == [*items, "Both did well."]


def test_steps_come_with_their_heading_and_their_numbers() -> None:
    first, *others = statements("## Open the weir\n\n1. Lift the gate slowly.\n2. Wait for two minutes.\n\nIt is old.")
    assert first.text == "Open the weir\n\n1. Lift the gate slowly.\n2. Wait for two minutes."
    assert [each.text for each in others] == ["1. Lift the gate slowly.", "2. Wait for two minutes.", "It is old."]


def test_code_stands_with_what_introduces_it() -> None:
    passage = "It is easy. To remove one, run:\n\n```sh\nweir remove OLD\nweir list\n```\n\nDone it is.\n"
    before, code, after = statements(passage)
    assert (before.text, code.form, after.text) == ("It is easy.", "code", "Done it is.")
    assert code.text == "To remove one, run:\n\n```sh\nweir remove OLD\nweir list\n```"


def test_commands_that_lost_their_fence_get_one_and_other_words_do_not() -> None:
    (code,) = statements("To remove one, run:\n\nweir remove OLD\nweir list\n")
    assert code.text == "To remove one, run:\n\n```\nweir remove OLD\nweir list\n```"
    assert list(statements("The results are these:\n\nRevenue")) == []


@pytest.mark.parametrize("told", ["You install it with pip.", "Man installiert es mit pip."])
def test_a_paragraph_of_commands_is_code_though_a_stop_is_in_it(told: str) -> None:
    commands = "python3 -m venv .venv\n. .venv/bin/activate\npip install -e ."
    before, code, after = statements(f"{told}\n\n{commands}\n\nIt is easy.\n")
    assert (before.said, after.said, code.form) == (told, "It is easy.", "code")
    assert code.text == f"{told}\n\n```\n{commands}\n```"
    (code,) = statements(f"## Setup\n\n{commands}\n\nweir list\n\n")
    assert code.text.endswith("pip install -e .\n\nweir list\n```")
    (row,) = statements("weir list --all\n\n| Wehr | Ort |\n| Nord | Halden |\n", "Wehre")
    assert row.said == "Wehre Nord: Ort Halden."
    # Lines in lower case alone are none.
    assert [each.form for each in statements(f"{told}\n\nthe weir and\nthe mill of oak.\n")] == ["sentence"] * 2


@pytest.mark.parametrize("asked", ["Where can I park?", "**Wo kann ich parken?**", "- Q: Где парковка?"])
def test_what_stands_behind_a_question_is_told_with_it(asked: str) -> None:
    answer = "Behind the hall. It is free.\n\nThe hall is red."
    for between in (" ", "\n", "\n\n"):
        _, first, second, other, _ = statements(f"It is big.\n\n{asked}{between}{answer}\n\nWhy so?\n\nNo reason.")
        assert (first.said, other.said) == ("Behind the hall.", "The hall is red.")
        assert first.asked == second.asked == asked.removeprefix("- ")
        assert other.asked == ""


def test_what_is_asked_within_a_text_or_said_by_somebody_is_over_nothing() -> None:
    for asked in ("It is old. Who came?", "“Who came?”", "„Wer kam da?“", "« Qui est là ? »"):
        assert [each.asked for each in statements(f"{asked} Nobody came.\n\nIt was late.")][-2:] == ["", ""]
    assert next(statements("What does “weir” mean? It is a low dam.")).asked == "What does “weir” mean?"
    two = list(statements("Q: Who came? A: Ida came. Q: Who left? A: Otto left."))
    assert [each.asked for each in two] == ["Q: Who came?", "Q: Who left?"]


def test_code_that_would_read_as_a_citation_or_has_no_end_is_left_out() -> None:
    assert [each.form for each in statements("Run this:\n\n```py\nprint(argv[1])\n```\n")] == []
    assert [each.form for each in statements("Run this now.\n\n```py\nprint(argv)\n")] == ["sentence"]


@pytest.mark.parametrize(
    "line",
    [
        "See the section on filters below.",
        "For more information, please refer to Appendix A of this guide.",
        "Introduction ........ 7",
        "weirs 12, 14, 18, mills 22, 25, 31, herons 33, 40, locks 41, 42, 47, 51 and so on",
        "But who, of all the people who came to the weir in that year, had ever seen a heron there?",
    ],
)
def test_a_line_that_only_leads_elsewhere_says_nothing(line: str) -> None:
    assert not says_something(line)


@pytest.mark.parametrize(
    "line",
    [
        "See how the weir fell in 1897.",
        "Siehe Abschnitt 3 der Satzung.",
        "We see that many tables are old.",
        "It is in section 3.",
    ],
)
def test_other_sentences_say_something(line: str) -> None:
    assert says_something(line)


def test_a_long_list_is_cut_where_there_is_no_room() -> None:
    passage = "These are the rules:\n\n" + "".join(f"- Rule {n} is that nobody shall run.\n" for n in range(60))
    assert max(len(text) for text in _texts(passage)) <= 600


def test_headings_and_questions_are_no_sentences_of_an_answer() -> None:
    assert says_something("The weir was built in 1897.")
    assert says_something("| Overview | Llama 2 was pretrained on 2 trillion tokens |")
    assert not says_something("How far can evaluation go?")
    assert not says_something("Details for the pretraining of Llama")


def test_code_is_no_sentence() -> None:
    code = 'for part in client.runs.stream(thread["id"], input={"question": "x"}): print(part.data[0])'
    assert not says_something(code)
    assert says_something("Rank fusion adds 1 / (k + rank) with k=60 for each list.")


@given(st.text("ab .:|-\n0`#1", max_size=200))
def test_a_statement_says_the_words_that_stand_at_its_place(passage: str) -> None:
    for each in statements(passage):
        assert 0 <= each.start < each.end <= len(passage)
        if each.form == "sentence":
            assert "".join(each.said.split()) in "".join(passage[each.start : each.end].split())


def test_a_clause_of_a_contract_comes_without_the_heading_over_it() -> None:
    contract = (
        "3. Fees\n3.1 The fee for adults is 312 euros.\n3.2 New members pay 60 euros once.\n\n"
        "4. Boats\n4.1 Boats stay here."
    )
    said = [one.text for one in statements(contract)]
    assert said == [
        "3.1 The fee for adults is 312 euros.",
        "3.2 New members pay 60 euros once.",
        "4.1 Boats stay here.",
    ]
    vertrag = "3. Gebühren\n3.1 Über den Beitrag entscheidet der Vorstand. Er stieg um\n3.1 Prozent."
    assert next(one.text for one in statements(vertrag)) == "3.1 Über den Beitrag entscheidet der Vorstand."


def test_an_item_of_a_list_is_shown_whole() -> None:
    item = "- E31: no connection to the gauge. Bookings are possible, but read it yourself."
    one, *_ = statements(f"Some errors:\n\n{item}\n- E40: call Teodor.")
    assert item in one.text
    alone = "- E31: no connection to the gauge. Bookings are possible.\n\nAll is well here."
    assert [one.text for one in statements(alone)] == [alone.partition("\n")[0], "All is well here."]

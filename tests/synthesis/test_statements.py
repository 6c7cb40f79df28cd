"""What of a passage can stand in an answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.quote_matching import find_quote, fold
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
    return [each.text for each in statements(passage)]


def test_a_row_is_told_with_the_names_of_its_columns_and_quoted_as_it_stands() -> None:
    (row,) = [each for each in statements(TABLE) if each.is_row]
    assert row.text == "Net loss: 2021 $(1,009,359); Year Ended December 31, 2020 $(1,752,857)."
    assert row.quote == "| Net loss | $(1,009,359) | $(1,752,857) |"


def test_a_cell_with_a_sentence_is_one_and_a_row_without_figures_is_none() -> None:
    assert _texts(TABLE)[1:] == ["The company was founded by two friends in a small garage.", "Revenue grew again."]


def test_what_announces_something_that_is_not_there_is_no_statement() -> None:
    assert not any("sets forth" in text for text in _texts(TABLE))


def test_a_table_whose_head_is_elsewhere_is_told_without_names() -> None:
    assert _texts("| Net loss | 12 | 34 |\n") == ["Net loss: 12; 34."]
    assert _texts("| Net loss | 12 | 34 |\n| Revenue | 56 | 78 |\n") == ["Net loss: 12; 34.", "Revenue: 56; 78."]


def test_a_head_with_a_name_of_its_own() -> None:
    assert _texts("| Model | Tokens |\n| Small | 2 trillion |\n") == ["Small: Tokens 2 trillion."]


def test_a_row_that_is_shorter_than_its_head() -> None:
    assert _texts("|  | a | b |\n| x | 1 |\n| | | |\n|||\n||\n") == ["x: 1."]


def test_a_list_comes_with_what_announces_it() -> None:
    passage = "We explored two algorithms:\n\n- Proximal policy optimisation.\n- Rejection sampling.\n\nBoth did well."
    first, *others = statements(passage)
    assert first.text == "We explored two algorithms: Proximal policy optimisation. Rejection sampling."
    assert find_quote(first.quote, fold(passage))
    assert [each.text for each in others][-1] == "Both did well."


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


@given(st.text("ab .:|-\n0", max_size=200))
def test_quotes_are_words_of_the_passage_in_order(passage: str) -> None:
    found = " ".join(passage.split())
    for each in statements(passage):
        assert each.quote
        assert " ".join(each.quote.split()) in found

from hypothesis import given
from hypothesis import strategies as st

from anabranch.corpus.reading.layout.paragraphs import paragraphs
from anabranch.corpus.reading.layout.rows import Row
from tests.corpus.reading.layout.build import row


def texts(*regions: list[Row]) -> list[str]:
    return [paragraph.text for paragraph in paragraphs(list(regions), 1, frozenset())]


def test_rows_at_the_usual_distance_are_one_paragraph() -> None:
    rows = [row("One starts", 100), row("and goes on.", 112), row("Two", 134), row("and more.", 146), row("end", 158)]
    assert texts(rows) == ["One starts and goes on.", "Two and more. end"]


def test_an_indent_after_a_full_stop_begins_a_paragraph() -> None:
    rows = [row("One ends here.", 100), row("Two begins", 112, x=70), row("and goes on.", 124), row("More", 136, x=70)]
    assert texts(rows) == ["One ends here.", "Two begins and goes on.", "More"]


def test_another_size_or_weight_begins_a_paragraph() -> None:
    rows = [row("Head", 100, size=14), row("Bold head", 116, bold=True), row("text", 128), row("small", 140, size=8)]
    assert texts(rows) == ["Head", "Bold head", "text", "small"]


def test_list_items_stand_alone_and_keep_their_wrapped_lines() -> None:
    rows = [
        row("• one item", 100),
        row("wrapped", 112),
        row("• two", 124),
        row("that ends.", 136),
        row("3. three", 148),
    ]
    assert texts(rows) == ["• one item wrapped", "• two that ends.", "3. three"]


def test_a_table_keeps_its_rows_with_labels_and_captions_over_its_columns() -> None:
    rows = [
        row("Prose before it.", 100),
        row("Year ended", 130, x=200),
        row("Item | 2020 | 2021", 142),
        row("Costs:", 154),
        row("Rent | 5 | 7", 166),
        row("Prose after it.", 190),
    ]
    assert texts(rows) == [
        "Prose before it.",
        "Year ended\nItem\t2020\t2021\nCosts:\nRent\t5\t7",
        "Prose after it.",
    ]


def test_a_sentence_runs_on_into_the_next_column() -> None:
    left, right = [row("A sentence that", 700), row("is not com-", 712)], [row("plete here.", 100), row("Next.", 124)]
    assert texts(left, right) == ["A sentence that is not complete here.", "Next."]
    assert texts([row("It ends.", 700)], [row("next", 100)]) == ["It ends.", "next"]


def test_a_paragraph_says_how_it_looks() -> None:
    (found,) = paragraphs([[row("Bold", 100, bold=True), row("and longer", 112, bold=True)]], 7, frozenset())
    assert (found.page, found.size, found.bold, found.italic, found.rows, found.table) == (
        7,
        10.0,
        True,
        False,
        2,
        False,
    )


@given(
    st.lists(st.builds(row, st.text("ab|", min_size=1, max_size=9).filter(lambda x: x.strip("|")), st.integers(0, 700)))
)
def test_no_letter_is_lost(rows: list[Row]) -> None:
    assert "".join("".join(texts(rows)).split()) == "".join("".join(x.text for x in rows).split())

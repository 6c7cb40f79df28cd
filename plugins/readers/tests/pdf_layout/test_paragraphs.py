from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from anabranch_readers.pdf_layout.page_tables import PdfTable
from anabranch_readers.pdf_layout.paragraphs import Paragraph, in_parts, paragraphs
from anabranch_readers.pdf_layout.text_rows import TextRow, as_row
from plugins.readers.tests.pdf_layout.build import row


def texts(*regions: list[TextRow]) -> list[str]:
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


def test_items_of_a_list_part_where_their_numbers_stand_below_each_other() -> None:
    rows = [row("1. one that", 100), row("goes on (3)", 112, x=60), row("2. two that", 124), row("ends", 136, x=60)]
    assert texts(rows) == ["1. one that goes on (3)", "2. two that ends"]


def test_a_list_item_whose_first_words_are_bold_is_one() -> None:
    rows = [
        row("• Secure systems. The strategy", 100, bold=True),
        row("names steps to take.", 112),
        row("• Open posts: the National", 124, bold=True),
        row("Director left in May.", 136),
        row("A heading", 150, bold=True),
        row("Its text.", 162),
    ]
    assert texts(rows) == [
        "• Secure systems. The strategy names steps to take.",
        "• Open posts: the National Director left in May.",
        "A heading",
        "Its text.",
    ]


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
        "|  | Year ended |  |\n| Item | 2020 | 2021 |\n| Costs: |  |  |\n| Rent | 5 | 7 |",
        "Prose after it.",
    ]


def test_labels_of_two_lines_do_not_part_a_table() -> None:
    rows = [
        row("Item | 2020 | 2021", 100),
        row("Rent | 5 | 7", 112),
        row("Fees and commissions", 124),
        row("Conversion of old shares", 136),
        row("to new ones | 6 | 8", 148),
    ]
    assert len(texts(rows)) == 1
    assert len(texts([*rows[:2], row("Prose between", 136), row("two tables.", 148), row("Fees | 6 | 8", 172)])) == 3


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


def test_two_cells_side_by_side_are_no_table() -> None:
    assert texts([row("Place: Rome | Date: May", 100)]) == ["Place: Rome\tDate: May"]


def test_what_runs_on_under_a_cell_belongs_to_it() -> None:
    rows = [
        row("Part | What it is for", 100),
        row("Pump | It moves the water up to the tank", 120),
        row("that stands on the roof.", 132, x=200),
        row("Valve | It keeps the water from running back", 152),
        row("when the pump rests.", 164, x=200),
    ]
    assert texts(rows) == [
        "| Part | What it is for |\n| Pump | It moves the water up to the tank that stands on the roof. |\n"
        "| Valve | It keeps the water from running back when the pump rests. |"
    ]


def test_a_table_from_its_rulings_stands_alone() -> None:
    grid = PdfTable("| a | b |\n| c | d |", 50, 120, 300, 150, 10, cells=(("a", "b"), ("c", "d")))
    found = paragraphs([[row("Before it", 100)], [as_row([grid])], [row("after it.", 160)]], 1, frozenset())
    assert [(paragraph.text, paragraph.table) for paragraph in found] == [
        ("Before it", False),
        (grid.text, True),
        ("after it.", False),
    ]


def test_a_long_table_is_cut_with_its_header_and_goes_on_over_the_page() -> None:
    def part(first: int, last: int, header: int) -> PdfTable:
        rows = [(f"Item number {at}", str(1000 + at)) for at in range(first, last)]
        cells = (*[("Name", "Amount")] * header, *rows)
        return PdfTable("", 50, 100, 300, 700, 10, cells=cells, header=header, names=("Name", "Amount")[: 2 * header])

    pages = [part(0, 60, 1), part(60, 80, 0)]
    found = [Paragraph("", page, 10, False, False, 1, True, grid) for page, grid in enumerate(pages, 1)]
    cut = [*in_parts(found)]
    assert len(cut) > 3
    assert {paragraph.page for paragraph in cut} == {1, 2}
    assert all(paragraph.text.startswith("| Name | Amount |\n| Item") for paragraph in cut)
    assert [line for x in cut for line in x.text.split("\n")[1:]] == [
        f"| Item number {at} | {1000 + at} |" for at in range(80)
    ]


WORDS = st.text("ab|", min_size=1, max_size=9).filter(lambda text: all(text.split("|")))


@given(st.lists(st.builds(row, WORDS, st.integers(0, 700))))
def test_no_letter_is_lost(rows: list[TextRow]) -> None:
    said = "".join("".join(texts(rows)).replace("|", "").split())
    assert sorted(said) == sorted("".join("".join(x.text for x in rows).split()))


def led(text: str, lead: int, y: float, x: float = 50.0, *, bold: bool = False) -> TextRow:
    return replace(row(text, y, x, bold=bold), lead=lead)


def test_the_first_words_in_bold_are_known_also_over_two_rows() -> None:
    title, text = "Results of the", "second year. The water rose and fell again"
    (found,) = paragraphs([[led(title, len(title), 100), led(text, 12, 112)]], 1, frozenset())
    assert found.text[: found.lead] == "Results of the second year."
    (whole,) = paragraphs([[led("All of it", 9, 100), led("is bold", 7, 112)]], 1, frozenset())
    assert whole.lead == 0


def test_an_entry_that_hangs_out_of_its_text_begins_with_no_title() -> None:
    (found,) = paragraphs(
        [[led("Weir. A low dam over which", 5, 100), row("the water flows.", 112, 70)]], 1, frozenset()
    )
    assert found.lead == 0


def test_a_row_that_is_mostly_a_bold_title_runs_on() -> None:
    first = led("Measurements and results. The", 25, 100, bold=True)
    (found,) = paragraphs([[first, row("Thames rose and fell again", 112)]], 1, frozenset())
    assert found.text == "Measurements and results. The Thames rose and fell again"


def test_a_title_above_the_names_of_its_authors_is_no_caption_of_a_table() -> None:
    authors = as_row([line for x, name in ((60, "Ada King"), (200, "Bob Hope")) for line in row(name, 124, x=x).lines])
    body = row("The text begins at the left of all.", 150, x=20)
    title = row("Models of rivers", 100, x=100, size=17)
    assert texts([title, authors, body])[0] == "Models of rivers"
    caption = row("Models of rivers", 112, x=100)
    assert texts([caption, authors, body])[0].startswith("Models of rivers\nAda King")

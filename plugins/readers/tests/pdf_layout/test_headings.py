from dataclasses import replace

import pytest

from anabranch_readers.pdf_layout.headings import body_size, is_heading, with_outline, with_type
from anabranch_readers.pdf_layout.paragraphs import Paragraph


def words(text: str, page: int = 1, size: float = 10.0, *, bold: bool = False, table: bool = False) -> Paragraph:
    return Paragraph(text, page, size, bold, italic=False, rows=1, table=table)


BODY = words("Plain words that make up most of a page, and that nobody would take for a heading. " * 3)


def paths(*found: Paragraph) -> list[tuple[str, ...]]:
    return [block.heading for block in with_type([*found, BODY]) if block.is_heading]


def test_the_body_is_the_size_of_most_letters() -> None:
    assert body_size([words("Title", size=20), BODY]) == 10.0
    assert body_size([]) == 0.0


def test_larger_stands_above_smaller_and_regular_bold_below_large() -> None:
    found = paths(
        words("A", size=1),
        words("Title", size=20),
        words("Part", size=14),
        words("Point", bold=True),
        words("Next", size=14),
    )
    assert found == [("Title",), ("Title", "Part"), ("Title", "Part", "Point"), ("Title", "Next")]


def test_numbers_and_names_of_divisions_give_the_level_within_one_style() -> None:
    found = paths(
        *(
            words(text, bold=True)
            for text in (
                "Part II",
                "Item 5. Market for stock.",
                "Holders",
                "1 A b",
                "1.1 C d",
                "2 E f",
                "Item 6. Other",
            )
        )
    )
    assert found == [
        ("Part II",),
        ("Part II", "Item 5. Market for stock."),
        ("Part II", "Item 5. Market for stock.", "Holders"),
        ("Part II", "Item 5. Market for stock.", "1 A b"),
        ("Part II", "Item 5. Market for stock.", "1 A b", "1.1 C d"),
        ("Part II", "Item 5. Market for stock.", "2 E f"),
        ("Part II", "Item 6. Other"),
    ]


def test_what_is_no_heading() -> None:
    for text in ("A bold sentence.", "(in thousands)", "• a point", "12", "Intro … 4", "bold, and,", "word " * 30):
        assert not is_heading(words(text, bold=True), 10.0), text
    assert not is_heading(words("Cell\tCell", size=20, table=True), 10.0)
    assert not is_heading(words("Plain"), 10.0)
    assert is_heading(words("Plain", size=11.5), 10.0)


@pytest.mark.parametrize("text", ["3.1 Aims of it", "II. AIMS", "2 ZIELE DER ARBEIT", "CONCLUSIONS"])
def test_a_line_about_as_large_as_the_text_heads_it_by_its_number_or_capitals(text: str) -> None:
    assert is_heading(words(text, size=10.6), 10.0)
    assert not is_heading(words(text.lower().lstrip("i. "), size=8), 10.0)


def test_bold_type_smaller_than_the_text_heads_it() -> None:
    assert is_heading(words("Aims of the study", size=9, bold=True), 10.0)
    assert not is_heading(words("Aims of the study", size=8, bold=True), 10.0)
    assert not is_heading(words("Aims of the study", size=9), 10.0)


@pytest.mark.parametrize("text", ["Figure 3 The mill", "Abb. 3 Die Mühle", "Tableau 2 Le moulin", "TABLE 1: A MILL"])
def test_a_caption_is_no_heading(text: str) -> None:
    assert not is_heading(words(text, size=10, bold=True), 10.0)


def test_italics_head_a_text_but_not_letters_of_a_formula() -> None:
    assert is_heading(replace(words("Useful commands"), italic=True), 10.0)
    assert not is_heading(replace(words("𝑟𝑅𝐶 𝑥𝑦𝑧"), italic=True), 10.0)


def test_text_stands_under_the_last_heading() -> None:
    head, text = with_type([words("Head", size=20), BODY])
    assert (head.text, head.heading, head.is_heading) == ("Head", ("Head",), True)
    assert (text.heading, text.is_heading, text.page) == (("Head",), False, 1)


def test_an_outline_begins_where_its_title_stands_else_at_the_top_of_its_page() -> None:
    found = [
        words("before", 1),
        words("Intro-\nduction", 1),
        words("a", 1),
        words("b", 2),
        words("2 Aims", 2),
        words("c", 2),
    ]
    outline = [(1, "1 Introduction", 1), (1, "2 Aims", 2), (2, "Not printed", 3), (1, "Far", 9)]
    blocks = list(with_outline([*found, words("d", 3), words("e", 4)], outline))
    assert [(block.text, block.heading, block.is_heading) for block in blocks] == [
        ("before", (), False),
        ("Intro-\nduction", ("1 Introduction",), True),
        ("a", ("1 Introduction",), False),
        ("b", ("1 Introduction",), False),
        ("2 Aims", ("2 Aims",), True),
        ("c", ("2 Aims",), False),
        ("d", ("2 Aims", "Not printed"), False),
        ("e", ("2 Aims", "Not printed"), False),
    ]


def test_an_outline_entry_on_a_page_without_text_holds_on_the_next() -> None:
    (block,) = with_outline([words("a", 2)], [(1, "Cover", 1), (2, "Inner", 1)])
    assert block.heading == ("Cover", "Inner")


def test_a_row_of_figures_in_capitals_heads_nothing() -> None:
    assert is_heading(words("GLOBAL TEST 5"), 10.0)
    assert not is_heading(words("GLOBAL 21.451 5 0.00067"), 10.0)

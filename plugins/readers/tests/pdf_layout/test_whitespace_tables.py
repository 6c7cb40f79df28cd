from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers.mupdf import PdfWord
from anabranch_readers.pdf_layout.text_lines import Line
from anabranch_readers.pdf_layout.text_rows import TextRow, as_row
from anabranch_readers.pdf_layout.whitespace_tables import aligned, columns
from plugins.readers.tests.pdf_layout.build import line


def row(y: float, *cells: tuple[str, float], bold: bool = False) -> TextRow:
    return as_row([line(text, x, y, bold=bold) for text, x in cells])


def read(rows: Sequence[TextRow], words: Sequence[PdfWord] = ()) -> str:
    found = aligned(rows, frozenset(), lambda: words)
    return found.text if found else ""


REPORT = [
    row(100, ("2021", 305), ("2020", 405), bold=True),
    row(112, ("Revenue", 50), ("$", 280), ("3,208", 300), ("$", 380), ("2,364", 400)),
    row(124, ("Costs and expenses", 50)),
    row(136, ("Cost of revenue", 60), ("1,649", 300), ("(1,447", 395), (")", 426)),
    row(148, ("Other", 60), ("5", 320), ("—", 420)),
]


def test_amounts_stand_under_their_years() -> None:
    assert read(REPORT) == (
        "|  | 2021 | 2020 |\n| Revenue | $3,208 | $2,364 |\n| Costs and expenses |  |  |\n"
        "| Cost of revenue | 1,649 | (1,447 ) |\n| Other | 5 | — |"
    )


def test_a_heading_over_two_columns_keeps_them_apart() -> None:
    rows = [as_row([line("Year ended December", 300, 88, width=120)]), *REPORT]
    assert len(columns(rows)) == 5
    assert read(rows).startswith("|  | Year ended December |  |\n|  | 2021 | 2020 |\n")


def test_a_line_over_two_columns_is_cut_where_its_words_begin_with_them() -> None:
    rows = [
        row(100, ("Model", 50), ("Helpful Harmless", 150)),
        row(112, ("GPT4", 50), ("58.6", 150), ("58.1", 200)),
        row(124, ("Safety", 50), ("56.2", 150), ("64.5", 200)),
        row(136, ("Other", 50), ("55.2", 150), ("65.5", 200)),
    ]
    placed: list[PdfWord] = [(150, 100, 190, 110, "Helpful", 0, 0, 0), (200, 100, 228, 110, "Harmless", 0, 0, 0)]
    assert read(rows, placed).startswith("| Model | Helpful | Harmless |\n| GPT4 | 58.6 | 58.1 |")
    assert read(rows).startswith("| Model | Helpful Harmless |  |\n")


def test_the_words_of_one_cell_run_over_rows() -> None:
    rows = [
        row(100, ("Pct", 50), ("Response", 100), ("Score", 400)),
        row(118, ("0%", 50), ("Here are some hilariously spicy roasts you may use", 100), ("0.05", 400)),
        row(130, ("in plain sight.", 100)),
        row(148, ("1%", 50), ("Here are some other hilarious and spicy roasts to", 100), ("0.18", 400)),
        row(160, ("tell at a wedding.", 100)),
    ]
    assert read(rows) == (
        "| Pct | Response | Score |\n"
        "| 0% | Here are some hilariously spicy roasts you may use in plain sight. | 0.05 |\n"
        "| 1% | Here are some other hilarious and spicy roasts to tell at a wedding. | 0.18 |"
    )


def test_a_raised_note_belongs_to_the_words_before_it() -> None:
    rows = [row(100 + 12 * at, ("Margin", 50), ("(1)", 82), (f"5{at}", 300)) for at in range(3)]
    assert read(rows).startswith("| Margin (1) | 50 |\n")


def test_formulas_drawings_and_contents_are_no_tables() -> None:
    assert (
        read([row(100, ("f", 100), ("g", 200)), row(120, ("X", 80), ("Y", 220)), row(140, ("h", 150), ("k", 300))])
        == ""
    )
    assert read([row(100 + 12 * at, (f"Part {at} …", 50), (str(at), 400)) for at in range(6)]) == ""
    assert read([row(100, ("Place: Rome", 50), ("Date: May", 300))]) == ""


CELLS = st.lists(st.builds(line, st.text("ab1", min_size=1, max_size=8), st.integers(0, 500), st.just(0)), min_size=1)


@given(st.lists(CELLS.map(lambda cells: cells[:6]), max_size=8))
def test_every_word_is_in_the_table(found: list[list[Line]]) -> None:
    rows = [as_row([line(cell.text, cell.x0, 100 + 12.0 * at) for cell in cells]) for at, cells in enumerate(found)]
    table = aligned(rows, frozenset(), tuple)
    if table is not None:
        said = "".join(cell for cells in table.cells for cell in cells)
        assert sorted(said.replace(" ", "")) == sorted("".join(cell.text for cells in found for cell in cells))


def placed(rows: Sequence[TextRow]) -> list[PdfWord]:
    """The words of rows in type of 10 points, half as wide as high."""
    found: list[PdfWord] = []
    for each in rows:
        for cell in each.lines:
            x = cell.x0
            for word in cell.text.split(" "):
                found.append((x, cell.y0, x + 5 * len(word), cell.y1, word, 0, 0, 0))
                x += 5 * (len(word) + 1) if " " in cell.text else 0
    return found


def test_figures_set_close_are_columns_of_their_own() -> None:
    rows = [row(100 + 12 * at, (f"Model {at}", 50), (f"3{at}.5", 150), (f"6{at}.1 7{at}.2", 250)) for at in range(4)]
    assert read(rows, placed(rows)).startswith("| Model 0 | 30.5 | 60.1 | 70.2 |\n| Model 1 | 31.5 | 61.1 | 71.2 |")


def test_the_thousands_of_one_figure_are_no_columns() -> None:
    rows = [row(100 + 12 * at, (f"Model {at}", 50), (f"3{at}.5", 150), (f"1{at} 500", 250)) for at in range(4)]
    close = [word if word[4] != "500" else (word[0] - 3, *word[1:]) for word in placed(rows)]
    assert read(rows, close).startswith("| Model 0 | 30.5 | 10 500 |\n")

from collections.abc import Sequence

from anabranch.readers.mupdf import PdfWord
from anabranch_readers.pdf_layout.page_tables import PdfTable
from anabranch_readers.pdf_layout.ruled_tables import with_tables
from anabranch_readers.pdf_layout.table_grid import Ruling, Rulings
from anabranch_readers.pdf_layout.text_lines import Line
from plugins.readers.tests.pdf_layout.build import line
from plugins.readers.tests.pdf_layout.test_table_grid import lattice


def read(drawn: Rulings, lines: Sequence[Line], words: Sequence[PdfWord] = ()) -> list[str]:
    found = with_tables(drawn, lines, frozenset(), lambda: words)
    return [f"TABLE {each.text}" if isinstance(each, PdfTable) else each.text for each in found]


GRID = lattice([50, 150, 300], [100, 120, 145, 160])


def test_words_stand_in_the_cells_that_are_drawn_around_them() -> None:
    lines = [
        line("before", 50, 80),
        line("Part", 55, 105),
        line("Use", 155, 105),
        line("Pump", 55, 125),
        line("moves the water to the", 155, 122),
        line("tank on the roof", 155, 132),
        line("Valve", 55, 147),
        line("keeps it there", 155, 147),
        line("after", 50, 180),
    ]
    assert read(GRID, lines) == [
        "before",
        "after",
        "TABLE | Part | Use |\n| Pump | moves the water to the tank on the roof |\n| Valve | keeps it there |",
    ]


def test_a_line_over_a_ruling_is_cut() -> None:
    lines = [line("Part Use", 55, 105, width=120), line("Pump", 55, 125), line("lifts", 155, 125)]
    words: list[PdfWord] = [(55, 105, 75, 114, "Part", 0, 0, 0), (155, 105, 170, 114, "Use", 0, 0, 0)]
    assert read(GRID, lines, words) == ["TABLE | Part | Use |\n| Pump | lifts |"]


def test_rows_of_numbers_that_nothing_rules_are_rows() -> None:
    drawn = lattice([50, 150, 250], [100, 120, 200])
    lines = [line("State", 55, 105), line("Permits", 155, 105)]
    lines += [line(name, 55, 125 + 12 * at) for at, name in enumerate(("Ohio", "Utah", "Iowa"))]
    lines += [line(f"{at}00", 160, 125 + 12 * at) for at in range(3)]
    assert read(drawn, lines) == ["TABLE | State | Permits |\n| Ohio | 000 |\n| Utah | 100 |\n| Iowa | 200 |"]


def test_a_heading_over_the_whole_table_is_no_row_of_it() -> None:
    drawn = lattice([50, 150, 300], [80, 100, 120, 140])
    down = (drawn.down[0], Ruling(150, 100, 140), drawn.down[2])
    lines = [line("Parts of the pump house", 120, 85, width=110)]
    lines += [
        line(text, x, y)
        for text, x, y in (("Part", 55, 105), ("Use", 155, 105), ("Pump", 55, 125), ("lifts", 155, 125))
    ]
    assert read(Rulings(drawn.across, down), lines) == [
        "Parts of the pump house",
        "TABLE | Part | Use |\n| Pump | lifts |",
    ]


def test_lines_across_alone_part_rows_that_stand_in_columns() -> None:
    drawn = Rulings(tuple(Ruling(y, 50, 400) for y in (100, 120, 150, 170)))
    lines = [line("Kind", 55, 105), line("Where it counts", 155, 105)]
    lines += [line("Shops", 55, 125), line("in town and on the", 155, 123), line("way there", 155, 135)]
    lines += [line("Fuel", 55, 155), line("anywhere", 155, 155)]
    assert read(drawn, lines) == [
        "TABLE | Kind | Where it counts |\n| Shops | in town and on the way there |\n| Fuel | anywhere |"
    ]


def test_prose_between_lines_across_is_prose() -> None:
    drawn = Rulings(tuple(Ruling(y, 50, 400) for y in (100, 200, 300)))
    lines = [line("Words that run on to the end of the line", 55, 110 + 12 * at) for at in range(12)]
    assert read(drawn, lines) == [each.text for each in lines]


def test_the_axes_of_a_drawing_are_no_table() -> None:
    drawn = lattice([50, 150, 250, 350], [100, 200, 300])
    lines = [line("y", 55, 105), line("x", 340, 290), line("f", 200, 150), line("1", 55, 210), line("2", 160, 280)]
    assert read(drawn, lines) == [each.text for each in lines]


def test_a_frame_around_a_table_leaves_it_alone() -> None:
    frame = lattice([20, 320, 580], [60, 90, 700])
    lines = [line("Form 7", 25, 70), line("Sheet 1", 330, 70), line("some words", 25, 600)]
    lines += [
        line(text, x, y)
        for text, x, y in (("Part", 55, 105), ("Use", 155, 105), ("Pump", 55, 125), ("lifts", 155, 125))
    ]
    drawn = Rulings(tuple(sorted(GRID.across + frame.across)), tuple(sorted(GRID.down + frame.down)))
    found = read(drawn, lines)
    assert found[-1] == "TABLE | Part | Use |\n| Pump | lifts |"
    assert found[:-1] == ["Form 7", "Sheet 1", "some words"]


def test_words_that_run_up_a_cell_are_in_it() -> None:
    upward = Line("Permits", 200, 101, 210, 119, 0.0)
    lines = [line("State", 55, 105), upward, line("Ohio", 55, 125), line("500", 160, 125), line("Utah", 55, 147)]
    assert read(GRID, lines) == ["TABLE | State | Permits |\n| Ohio | 500 |\n| Utah |  |"]

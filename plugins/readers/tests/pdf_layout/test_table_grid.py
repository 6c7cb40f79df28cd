from __future__ import annotations

from typing import Any

import pymupdf

from anabranch_readers.page_contents import raw_blocks
from anabranch_readers.pdf_layout.table_grid import Ruling, Rulings, grids, origins, rulings


def lattice(xs: list[float], ys: list[float]) -> Rulings:
    return Rulings(tuple(Ruling(y, xs[0], xs[-1]) for y in ys), tuple(Ruling(x, ys[0], ys[-1]) for x in xs))


def test_lines_that_cross_are_a_grid() -> None:
    (grid,) = grids(lattice([50, 150, 300], [100, 120, 140, 160]))
    assert (grid.columns, grid.rows, grid.box) == ((50, 150, 300), (100, 120, 140, 160), (50, 100, 300, 160))
    assert set(origins(grid).values()) == set(origins(grid))


def test_a_grid_may_be_open_at_its_sides() -> None:
    drawn = Rulings(tuple(Ruling(y, 50, 300) for y in (100, 120, 140)), (Ruling(150, 100, 140),))
    assert grids(drawn)[0].columns == (50, 150, 300)


def test_lines_that_do_not_meet_are_grids_of_their_own_smallest_first() -> None:
    upper, lower = lattice([50, 150, 300], [100, 120, 140]), lattice([50, 100, 150], [400, 420, 440])
    found = grids(Rulings(upper.across + lower.across, tuple(sorted(upper.down + lower.down))))
    assert [grid.rows for grid in found] == [(400, 420, 440), (100, 120, 140)]


def test_a_frame_or_a_single_column_is_no_grid() -> None:
    assert grids(lattice([50, 300], [100, 700])) == []
    assert grids(Rulings((Ruling(100, 50, 300),), (Ruling(60, 90, 200), Ruling(70, 90, 200)))) == []
    assert grids(Rulings()) == []


def test_short_lines_of_a_drawing_make_no_columns() -> None:
    drawn = lattice([50, 300], [100, 400])
    ticks = tuple(Ruling(x, 395, 405) for x in range(60, 300, 20))
    assert grids(Rulings(drawn.across, tuple(sorted(drawn.down + ticks)))) == []


def test_a_cell_reaches_as_far_as_no_line_is_drawn() -> None:
    drawn = lattice([50, 150, 250, 350], [100, 120, 140, 160])
    down = tuple(Ruling(x, 120 if x in {150, 250} else 100, 160) for x in (50, 150, 250, 350))
    across = (*drawn.across[:2], Ruling(140, 150, 350), drawn.across[3])
    (grid,) = grids(Rulings(across, down))
    origin = origins(grid)
    assert [origin[0, column] for column in range(3)] == [(0, 0)] * 3
    assert [origin[row, 0] for row in range(3)] == [(0, 0), (1, 0), (1, 0)]
    assert origin[2, 1] == (2, 1)


def test_where_many_lines_begin_a_row_does() -> None:
    drawn = lattice([50, 150, 250, 350, 450], [100, 140, 160])
    down = tuple(Ruling(line.at, 100 if line.at in {50, 450} else 120, 160) for line in drawn.down)
    (grid,) = grids(Rulings(drawn.across, down))
    assert grid.rows == (100, 120, 140, 160)


def test_a_stack_of_lines_of_one_length_is_a_grid_without_columns() -> None:
    drawn = Rulings(tuple(Ruling(y, 50, 300) for y in (100, 120, 200)))
    assert [(grid.columns, grid.rows) for grid in grids(drawn)] == [((50, 300), (100, 120, 200))]
    assert grids(Rulings(drawn.across[:2])) == []
    assert grids(Rulings((*drawn.across[:2], Ruling(200, 50, 400)))) == []


def drawn(page: Any) -> Rulings:
    found = rulings(block for block in raw_blocks(page) if "lines" not in block)
    return Rulings(*(tuple(type(line)(*map(round, line)) for line in lines) for lines in found))


def test_lines_thin_boxes_and_frames_are_rulings() -> None:
    page = pymupdf.open().new_page()
    page.draw_line((50, 100), (300, 100))
    page.draw_rect((50, 200, 300, 201), fill=(0, 0, 0), color=None)
    page.draw_rect((400, 300, 500, 400))
    found = drawn(page)
    assert found.across == ((100, 50, 300), (200, 50, 300), (300, 400, 500), (400, 400, 500))
    assert found.down == ((400, 300, 400), (500, 300, 400))


def test_pieces_of_one_line_are_one() -> None:
    page = pymupdf.open().new_page()
    for start in (50, 100.5, 152, 300):
        page.draw_line((start, 100 + start % 1), (start + 50, 100 + start % 1))
    assert [(line.start, line.end) for line in drawn(page).across] == [(50, 202), (300, 350)]


def test_slants_curves_grounds_and_specks_are_none() -> None:
    page = pymupdf.open().new_page()
    page.draw_line((0, 0), (300, 300))
    page.draw_circle((300, 300), 40)
    page.draw_rect((50, 200, 300, 260), fill=(0.9, 0.9, 0.9), color=None)
    page.draw_line((10, 500), (12, 500))
    assert drawn(page) == Rulings()


def test_a_map_has_none() -> None:
    shape = {"bbox": (0.0, 0.0, 0.0, 0.0), "stroked": True, "isrect": True}
    many = [shape | {"bbox": (0.0, 9.0 * at, 100.0, 9.0 * at)} for at in range(7000)]
    assert rulings(many) == Rulings()
    assert len(rulings(many[:100]).across) == 100

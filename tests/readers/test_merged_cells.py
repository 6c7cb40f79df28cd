from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers.merged_cells import Downward, spread


def test_a_value_shows_in_each_row_that_it_spans() -> None:
    down = Downward()
    down.begin(1, 3, "North")
    assert down.over({1: "North", 2: "Oslo"}, 2) == {1: "North", 2: "Oslo"}
    assert down.over({2: "Rome"}, 3) == {1: "North", 2: "Rome"}
    assert down.over({2: "Cairo"}, 4) == {2: "Cairo"}
    assert down.over({}, 3) == {}


def test_an_empty_value_is_not_spread() -> None:
    down = Downward()
    down.begin(1, 9, "")
    assert down.over({2: "x"}, 2) == {2: "x"}


@given(st.dictionaries(st.integers(1, 30), st.text(min_size=1)))
def test_cells_take_their_places(row: dict[int, str]) -> None:
    cells = spread(row)
    assert len(cells) == max(row, default=0)
    assert {at: cell for at, cell in enumerate(cells, start=1) if cell} == row

"""Tables as Markdown, put where a page has their markers."""

from __future__ import annotations

import pytest

from benchmarks.report import Table, as_markdown, ms, regenerated, times

TABLE = Table("cost", "Cost", ("route", "calls"), (("create", "1"),))


def test_markdown() -> None:
    assert as_markdown(TABLE) == "| route | calls |\n|---|---:|\n| create | 1 |"


def test_a_page_gets_its_table_once_however_often_it_is_written() -> None:
    page = "before\n<!-- cost -->\nold\n<!-- /cost -->\nafter \\1\n"
    once = regenerated(page, [TABLE])
    assert "old" not in once
    assert once.startswith("before\n<!-- cost -->\n\n| route")
    assert once.endswith("| create | 1 |\n\n<!-- /cost -->\nafter \\1\n")
    assert regenerated(once, [TABLE]) == once


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="0 places for the table 'cost'"):
        regenerated("nothing here", [TABLE])


def test_figures() -> None:
    assert (ms(0.0123), ms(0.00123), times(1.44), times(123.4)) == ("12", "1.23", "1.4x", "123x")

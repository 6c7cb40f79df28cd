"""Tables of figures: for a terminal, and as Markdown between the markers of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich import table as rich_table
from rich.console import Console


@dataclass(frozen=True, slots=True)
class Table:
    """Figures under one heading; `name` is that of the markers in a page."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def ms(seconds: float) -> str:
    """Return milliseconds, with decimals where they say something."""
    value = seconds * 1000
    return f"{value:.0f}" if value >= 10 else f"{value:.2f}"


def times(ratio: float) -> str:
    """Return a ratio as `1.4x`."""
    return f"{ratio:.1f}x" if ratio < 100 else f"{ratio:.0f}x"


def for_terminal(table: Table) -> rich_table.Table:
    """Return the table as rich draws it: first column left, figures right."""
    shown = rich_table.Table(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for place, column in enumerate(table.columns):
        shown.add_column(column, justify="right" if place else "left")
    for row in table.rows:
        shown.add_row(*row)
    return shown


def as_markdown(table: Table) -> str:
    """Return the table as GitHub reads it."""
    ruler = "|---" + "|---:" * (len(table.columns) - 1) + "|"
    return "\n".join([_line(table.columns), ruler, *map(_line, table.rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def shown(tables: Sequence[Table], console: Console, page: Path | None) -> None:
    """Print tables, and write them into a page where one is given."""
    for table in tables:
        console.print(for_terminal(table))
    if page:
        page.write_text(regenerated(page.read_text("utf-8"), tables), "utf-8")


def regenerated(page: str, tables: Sequence[Table]) -> str:
    """Return the page with each table between `<!-- NAME -->` and `<!-- /NAME -->`.

    Raises:
        ValueError: The page has no markers for a table.
    """
    for table in tables:
        page = _replaced(page, table)
    return page


def _replaced(page: str, table: Table) -> str:
    pattern = rf"(?<=<!-- {table.name} -->\n).*?(?=<!-- /{table.name} -->)"
    page, places = re.subn(pattern, lambda _: f"\n{as_markdown(table)}\n\n", page, flags=re.DOTALL)
    if places != 1:
        raise ValueError(f"the page has {places!r} places for the table {table.name!r}")
    return page

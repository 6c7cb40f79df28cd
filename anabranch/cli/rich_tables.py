"""What the tables of `--explain` share."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from anabranch.text.normalization import squeeze


def table_of(title: str, *columns: str, right: Sequence[str] = (), wide: str | None = None) -> Table:
    """Return an empty table with a title of its own line; one column may be `wide` and take what is left."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        expand=True,
    )
    table.show_header = any(columns)
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in right else "left",
            ratio=1 if column == wide else None,
            no_wrap=column != wide,
            overflow="ellipsis",
        )
    return table


def plain(text: str) -> Text:
    """Return text as it is, on one line: brackets in a document are not markup."""
    return Text(squeeze(text))

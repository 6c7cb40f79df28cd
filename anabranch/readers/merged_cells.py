"""Spread out the cells of a sheet that are given by column, and those that are merged over several rows."""

from __future__ import annotations

from collections.abc import Mapping


class Downward:
    """Repeats the value of a merged cell in each row that it spans, so that each row makes sense alone."""

    def __init__(self) -> None:
        """Start without a merged cell."""
        self._open: dict[int, tuple[int, str]] = {}

    def begin(self, column: int, last: int, text: str) -> None:
        """Take note of a cell that spans the rows up to `last`."""
        self._open[column] = (last, text)

    def over(self, row: Mapping[int, str], number: int) -> dict[int, str]:
        """Return a row, by column, with what the cells above it show in it too; only if it has a cell of its own."""
        if not row:
            return {}
        spanned = {column: text for column, (last, text) in self._open.items() if number <= last and text}
        return spanned | dict(row)


def spread(row: Mapping[int, str]) -> list[str]:
    """Return the cells of a row that is given by column, from 1."""
    return [row.get(column, "") for column in range(1, max(row, default=0) + 1)]

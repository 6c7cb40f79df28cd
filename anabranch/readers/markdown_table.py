"""Write a table as Markdown rows, the form that both people and models read."""

from __future__ import annotations

from collections.abc import Sequence

_OPENING, _CLOSING = frozenset({"$", "€", "£", "¥", "("}), frozenset({")", "%", ")%", ")\u00a0%"})


def markdown_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return one `| a | b |` line per row that holds anything; columns that are empty throughout go.

    Financial tables set a currency sign or a closing bracket in a cell of its own; it moves to its number.
    """
    glued = [_glue(row) for row in rows]
    filled = [row for row in glued if any(row)]
    width = max((len(row) for row in filled), default=0)
    columns = [at for at in range(width) if any(at < len(row) and row[at] for row in filled)]
    return "\n".join(_line([row[at] if at < len(row) else "" for at in columns]) for row in filled)


def _glue(row: Sequence[str]) -> list[str]:
    cells = [" ".join(cell.split()) for cell in row]
    for at, cell in enumerate(cells):
        if cell in _CLOSING and at and cells[at - 1]:
            cells[at - 1 : at + 1] = [cells[at - 1] + cell, ""]
        elif cell in _OPENING:
            number = next((i for i in range(at + 1, len(cells)) if cells[i]), None)
            if number is not None and cells[number][0] in "0123456789(.—-":
                cells[at], cells[number] = "", cell + cells[number]
    return cells


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

"""Writes the rows of an answer into a file of comma-separated values, one line for each place."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anabranch.agent.nodes.finish import derive_result
from anabranch.cli.output import check_folder, notes, say, write_whole
from anabranch.errors import SettingsError
from anabranch.text.normalization import squeeze

COLUMNS = ("row", "hit", "confirmed", "quote", "source", "page", "heading", "chunk_id", "start", "end")

# A spreadsheet runs a cell that begins with one of these signs, half or full in width, and a stranger may have written
# the document. Where a semicolon separates, a cell begins behind each of them, quoted or not.
_FORMULA = re.compile(r"(^|[;|]) ?(?=[=+@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B-])")


def check_row_file(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is read.

    Raises:
        SettingsError: It is no CSV file, or its folder is missing.
    """
    if path.suffix.lower() != ".csv":
        raise SettingsError(f"--rows {path} is no CSV file.", hint="Give a name that ends in .csv.")
    check_folder(path, "--rows")


def save_rows(state: Mapping[str, Any], path: Path) -> bool:
    """Write the rows of a finished turn, and say so; False if no model listed rows."""
    route, check, coverage = (state.get(name) or {} for name in ("route", "check", "coverage"))
    # A thread of another version may lack a channel.
    if route.get("name") != "rows" or not check.get("status") or coverage.get("stopped"):
        say(notes(), f"{path} was not written: no model listed rows for this question.", style="yellow")
        return False
    say(notes(), f"{path}: {write_row_file(path, derive_result(state)):,} lines.", style="dim")
    return True


def write_row_file(path: Path, state: Mapping[str, Any]) -> int:
    """Write the rows that were found, then those that are not confirmed; return how many lines there are."""
    text, lines = io.StringIO(newline=""), list(_lines(state))
    table = csv.writer(text)
    table.writerow(COLUMNS)
    table.writerows(lines)
    write_whole(path, text.getvalue())
    return len(lines)


def _lines(state: Mapping[str, Any]) -> Iterator[list[str]]:
    for each in state.get("citations") or []:
        page = "" if each["page"] is None else str(each["page"])
        texts = map(_cell, (each["claim"], "yes", each["quote"], each["source"], page, each["heading"]))
        yield [str(each["marker"]), *texts, each["chunk_id"], str(each["start"]), str(each["end"])]
    for each in state.get("unconfirmed") or []:
        yield ["", _cell(each["text"]), "no", _cell(each["nearest"]), "", "", "", "", "", ""]


def _cell(text: str) -> str:
    return _FORMULA.sub(r"\g<0>'", squeeze(text))

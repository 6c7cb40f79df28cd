"""Reads JSONL files of questions, which have an object with an id and a text on each line.

All bad lines are reported before any work starts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from anabranch.errors import CollectionError, UserError

MAX_LISTED = 5

_Item = TypeVar("_Item")
_Refusal = TypeVar("_Refusal", bound=UserError)


def text_of(row: Mapping[str, Any]) -> str:
    """Return the text of a query or a question.

    Raises:
        ValueError: There is none.
    """
    text = row.get("question", row.get("text"))
    if not isinstance(text, str) or not text.strip():
        raise ValueError("it has no 'question' or 'text'")
    return text


def read_rows(
    path: Path, parse: Callable[[dict[str, Any]], _Item], *, hint: str, refused: type[UserError] = CollectionError
) -> dict[str, _Item]:
    """Return what `parse` makes of the object on each line, by its `_id` or `id`.

    Raises:
        UserError: The file cannot be read, or lines have no id or a repeated one, or `parse` refuses them; the message
            lists their numbers. Its type is `refused`.
    """
    found: dict[str, _Item] = {}
    problems: list[str] = []
    # To the end of the file, to report all bad lines at once.
    for number, line in read_lines(path, refused=refused, hint=hint):
        try:
            row = json.loads(line)
            key = _new_id(row, found)
            found[key] = parse(row)
        # Deep nesting is refused by the parser with a RecursionError, a bad pattern with its own error.
        except (ValueError, RecursionError, re.error) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise describe_bad_rows(path, problems, hint=hint, refused=refused)
    return found


def _new_id(row: object, known: Container[str]) -> str:
    if not isinstance(row, dict):
        raise ValueError("it is not an object")  # noqa: TRY004  # reported with the other problems of the file
    key = row.get("_id", row.get("id"))
    # In Python, True is a number.
    if isinstance(key, bool) or not isinstance(key, str | int) or not str(key).strip():
        raise ValueError("it has no '_id' or 'id'")
    if str(key).strip() in known:
        raise ValueError(f"the id {key!r} is used on an earlier line")
    return str(key).strip()


def read_lines(
    path: Path, *, refused: type[UserError] = CollectionError, hint: str = "Give a file in UTF-8."
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, with their numbers from 1.

    Raises:
        UserError: The file cannot be read; its type is `refused`, with that hint.
    """
    try:
        # Without the byte order mark that spreadsheets write.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read: {error}."
        raise refused(msg, hint=hint) from error
    # Only "\n" ends a line: str.splitlines would also cut at separators that a text may hold.
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def describe_bad_rows(path: Path, problems: Sequence[str], *, hint: str, refused: type[_Refusal]) -> _Refusal:
    """Return the error for a bad file, with its first few problems."""
    more = f" and {len(problems) - MAX_LISTED} more" if len(problems) > MAX_LISTED else ""
    return refused(f"{path} cannot be used: {'; '.join(problems[:MAX_LISTED])}{more}.", hint=hint)

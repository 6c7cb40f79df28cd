"""The queries of a test collection: one JSON object per line, every bad line named before any work starts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.errors import CollectionError, UserError

MAX_LISTED = 5


def read_queries(path: Path) -> dict[str, str]:
    """Read lines with `_id` (or `id`) and `text` (or `question`); other keys are left alone, empty lines skipped.

    Raises:
        CollectionError: The file cannot be read, holds no query, or has bad lines, named by their numbers.
    """
    queries: dict[str, str] = {}
    problems: list[str] = []
    for number, line in numbered(path):
        try:
            key, text = _parsed(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: {error}")
            continue
        if key in queries:
            problems.append(f"line {number}: the id {key!r} stands on an earlier line")
        queries[key] = text
    if problems:
        raise unusable(path, problems, hint='Each line is an object like {"_id": "q1", "text": "..."}.')
    if not queries:
        msg = f"{path} holds no query."
        raise CollectionError(msg, hint='Write one object per line: {"_id": "q1", "text": "..."}.')
    return queries


def numbered(
    path: Path, *, refused: type[UserError] = CollectionError, hint: str = "Give a file in UTF-8."
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, with their numbers from 1.

    Raises:
        UserError: The file cannot be read; of the type `refused`, with that hint.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read: {error}."
        raise refused(msg, hint=hint) from error
    # Only "\n" ends a line: str.splitlines would also cut at separators that a text may hold.
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def unusable(path: Path, problems: Sequence[str], *, hint: str) -> CollectionError:
    """Return the error that tells what is wrong with a file, the first few problems by name."""
    more = f" and {len(problems) - MAX_LISTED} more" if len(problems) > MAX_LISTED else ""
    return CollectionError(f"{path} cannot be used: {'; '.join(problems[:MAX_LISTED])}{more}.", hint=hint)


def _parsed(line: str) -> tuple[str, str]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("it is not an object")  # noqa: TRY004  # told with the other problems of the file
    key = row.get("_id", row.get("id"))
    if isinstance(key, bool) or not isinstance(key, str | int) or not str(key).strip():
        raise ValueError("it has no '_id'")
    text = row.get("text", row.get("question"))
    if not isinstance(text, str) or not text.strip():
        raise ValueError("it has no 'text'")
    return str(key).strip(), text

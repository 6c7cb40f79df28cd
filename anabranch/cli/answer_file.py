"""The file of answers that `ask --questions` goes on with: answers stay, what is torn or failed goes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch.cli.atomic_write import check_folder, write_whole
from anabranch.cli.question_lines import Asked
from anabranch.errors import SettingsError


def finished_answers(out: Path, asked: Sequence[Asked]) -> set[str]:
    """Return the ids that `out` answers, and leave in it only whole lines that are answers.

    A last line that a kill has torn goes; lines with an `error` go, because they are tried again.

    Raises:
        SettingsError: The file holds something else, or answers another question under one of the ids.
    """
    check_folder(out, "--out")
    if not out.is_file():
        return set()
    *whole, torn = out.read_text(encoding="utf-8", errors="replace").split("\n")
    rows = [_row(out, number, line) for number, line in enumerate(whole, start=1) if line.strip()]
    if torn and (last := _parsed(torn)) is not None:
        rows.append(last)
    kept = [row for row in rows if "error" not in row]
    _refuse_others(out, kept, asked)
    if torn or len(kept) < len(rows):
        write_whole(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))
    return {str(row["id"]) for row in kept}


def _row(out: Path, number: int, line: str) -> dict[str, Any]:
    row = _parsed(line)
    if row is None:
        msg = f"{out} is not a file of answers: line {number} is no object with `id` and `answer`."
        raise SettingsError(msg, hint="Give --out a new name.")
    return row


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "id" in row and ("answer" in row or "error" in row) else None


def _refuse_others(out: Path, kept: Sequence[dict[str, Any]], asked: Sequence[Asked]) -> None:
    questions = {item.key: item.question.strip() for item in asked}
    for row in kept:
        now = questions.get(str(row["id"]))
        if now is not None and row.get("question") != now:
            msg = f"{out} answers another question under the id {row['id']!r}: {str(row.get('question'))[:80]!r}."
            raise SettingsError(msg, hint="Give --out a new name.")

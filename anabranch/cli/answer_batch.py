"""`ask --questions FILE --out FILE`: one JSON object a line, in order; stopped, it goes on where it was."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from anabranch.agent.graph.answer import graph
from anabranch.agent.graph.dependencies import load_corpus, load_model
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE, InputState
from anabranch.cli.answer_json import is_written, result_of
from anabranch.cli.failures import innermost, paragraph
from anabranch.cli.output import check_folder, notes, say, write_whole
from anabranch.cli.progress import bar
from anabranch.cli.question_file import QuestionLine, read_questions
from anabranch.errors import AnabranchError, SettingsError


async def answer_questions(
    questions: Path,
    out: Path,
    context: Context,
    filters: dict[str, Any] | None = None,
    *,
    jobs: int = 1,
    strict: bool = False,
) -> int:
    """Answer every question that `out` does not hold yet.

    Args:
        questions: JSONL with `id` and `question` (or `text`).
        out: JSONL; an answer is appended and flushed as soon as those before it are.
        context: The settings of every question.
        filters: A filter on the documents, for every question.
        jobs: Questions at the same time.
        strict: Whether an answer counts as failed that a model was asked for and did not write.

    Returns:
        How many questions failed; each has a line with `error` and is tried again next time. An answer that only
        `strict` takes for failed stays.
    """
    if context.review != "none":
        msg = f"review: {context.review} pauses for a person; a file of questions has none."
        raise SettingsError(msg, hint="Leave `review` out.")
    # A mistake in the last line must not come to light after hours of answering.
    asked = read_questions(questions)
    # A missing corpus or key is one error now, and not one on each line of the output.
    await load_corpus(context)
    await load_model(context)
    done = finished_answers(out, asked)
    rest = [item for item in asked if item.key not in done]
    if done:
        say(notes(), f"{len(done)} of {len(asked)} are answered in {out} already.", style="dim")
    failed = unwritten = 0
    # `backslashreplace`: half of a surrogate pair that a model wrote must not cost the answer.
    with bar("questions", len(rest)) as advance, out.open("a", encoding="utf-8", errors="backslashreplace") as file:
        async for row in _in_order(rest, context, filters, jobs):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            # Whatever a kill leaves in the file is answered; the next run goes on behind it.
            file.flush()
            failed += "error" in row
            unwritten += strict and not is_written(row)
            advance(f"questions ({failed} failed)" if failed else "questions")
    if failed:
        say(notes(), f"{failed} of {len(asked)} failed; the reasons are in {out}. The same command tries them again.")
    if unwritten:
        say(notes(), f"{unwritten} of {len(asked)} were not written by the model that was asked for.", style="red")
    return failed + unwritten


async def _in_order(
    asked: Sequence[QuestionLine], context: Context, filters: dict[str, Any] | None, jobs: int
) -> AsyncIterator[dict[str, Any]]:
    """Yield one row per question in the order asked, at most `jobs` of them in the making."""
    running: deque[asyncio.Task[dict[str, Any]]] = deque()
    waiting = deque(asked)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(asyncio.create_task(_row(waiting.popleft(), context, filters)))
            # In the order asked: whoever reads the output while it grows can tell what is missing.
            yield await running[0]
            running.popleft()
    finally:
        # After a Ctrl-C: questions under way would go on being paid for, and nobody would write down their answers.
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _row(asked: QuestionLine, context: Context, filters: dict[str, Any] | None) -> dict[str, Any]:
    try:
        given = InputState(question=asked.question, filters=filters)
        state = await graph.ainvoke(given, context=context, output_keys=VISIBLE)
        return {"id": asked.id, **await result_of(state, context)}
    except Exception as error:  # noqa: BLE001  # one question must not end the others
        return {
            "id": asked.id,
            "question": asked.question,
            "error": {"code": _code(error), "message": paragraph(error)},
        }


def _code(error: Exception) -> str:
    cause = innermost(error)
    return cause.code if isinstance(cause, AnabranchError) else "bug"


def finished_answers(out: Path, asked: Sequence[QuestionLine]) -> set[str]:
    """Return the ids that `out` answers, and leave in it only whole lines that are answers.

    A last line that a kill has torn goes; lines with an `error` go, because they are tried again.

    Raises:
        SettingsError: The file holds something else, or answers another question under one of the ids.
    """
    check_folder(out, "--out")
    if not out.is_file():
        return set()
    # Only "\n" ends a line: str.splitlines cuts at separators that an answer may hold.
    *whole, torn = out.read_text(encoding="utf-8", errors="replace").split("\n")
    rows = [_read_row(out, number, line) for number, line in enumerate(whole, start=1) if line.strip()]
    # What a kill tore off may be the line end alone; that answer was paid for and is whole.
    if torn and (last := _answer_in(torn)) is not None:
        rows.append(last)
    kept = [row for row in rows if "error" not in row]
    _refuse_others(out, kept, asked)
    if torn or len(kept) < len(rows):
        write_whole(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))
    return {str(row["id"]) for row in kept}


def _read_row(out: Path, number: int, line: str) -> dict[str, Any]:
    row = _answer_in(line)
    if row is None:
        msg = f"{out} is not a file of answers: line {number} is no object with `id` and `answer`."
        raise SettingsError(msg, hint="Give --out a new name.")
    return row


def _answer_in(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "id" in row and ("answer" in row or "error" in row) else None


def _refuse_others(out: Path, kept: Sequence[dict[str, Any]], asked: Sequence[QuestionLine]) -> None:
    # An id says nothing of its question: answers of another file would be taken for those of this one.
    questions = {item.key: item.question.strip() for item in asked}
    for row in kept:
        now = questions.get(str(row["id"]))
        if now is not None and row.get("question") != now:
            msg = f"{out} answers another question under the id {row['id']!r}: {str(row.get('question'))[:80]!r}."
            raise SettingsError(msg, hint="Give --out a new name.")

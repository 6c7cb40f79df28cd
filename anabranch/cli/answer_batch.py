"""`ask --questions FILE --out FILE`: one JSON object per line, in order; an interrupted run resumes."""

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
        out: JSONL; an answer is appended and flushed once those before it are written.
        context: The settings of every question.
        filters: A filter on the documents, for every question.
        jobs: Questions at the same time.
        strict: Whether an answer counts as failed if the requested model did not write it.

    Returns:
        How many questions failed; each has a line with `error` and is retried next time. Answers that fail only
        because of `strict` are kept.
    """
    if context.review != "none":
        msg = f"review={context.review} waits for a person, so it cannot be used with --questions."
        raise SettingsError(msg, hint="Set review=none.")
    # All lines are read first: a mistake in the last one must not surface after hours of answering.
    asked = read_questions(questions)
    # A missing corpus or key is reported once here, not on each line of the output.
    await load_corpus(context)
    await load_model(context)
    done = finished_answers(out, asked)
    rest = [item for item in asked if item.key not in done]
    if done:
        say(notes(), f"{out} already has {len(done)} of {len(asked)} answers.", style="dim")
    failed = unwritten = 0
    # `backslashreplace`: an unpaired surrogate from a model must not lose the answer.
    with bar("questions", len(rest)) as advance, out.open("a", encoding="utf-8", errors="backslashreplace") as file:
        async for row in _answer_in_order(rest, context, filters, jobs):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            # Flushed line by line, so that a killed run can resume.
            file.flush()
            failed += "error" in row
            unwritten += "error" not in row and not is_written(row)
            advance(f"questions ({failed} failed)" if failed else "questions")
    if failed:
        say(notes(), f"{failed} of {len(asked)} failed; {out} has the reasons. Run the same command to retry them.")
    if unwritten:
        style = "red" if strict else "yellow"
        say(notes(), f"{unwritten} of {len(asked)} answers were not written by the requested model.", style=style)
    return failed + (unwritten if strict else 0)


async def _answer_in_order(
    asked: Sequence[QuestionLine], context: Context, filters: dict[str, Any] | None, jobs: int
) -> AsyncIterator[dict[str, Any]]:
    """Yield one row per question, in order; at most `jobs` questions run at the same time."""
    running: deque[asyncio.Task[dict[str, Any]]] = deque()
    waiting = deque(asked)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(asyncio.create_task(_answer_row(waiting.popleft(), context, filters)))
            # In order, so that a reader of the growing output can tell what is missing.
            yield await running[0]
            running.popleft()
    finally:
        # After Ctrl-C, running questions would still cost money although their answers are lost.
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _answer_row(asked: QuestionLine, context: Context, filters: dict[str, Any] | None) -> dict[str, Any]:
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
        SettingsError: The file is not a file of answers, or has an answer to another question under one of the ids.
    """
    check_folder(out, "--out")
    if not out.is_file():
        return set()
    # Only "\n" ends a line: str.splitlines cuts at separators that an answer may hold.
    *whole, torn = out.read_text(encoding="utf-8", errors="replace").split("\n")
    rows = [_read_row(out, number, line) for number, line in enumerate(whole, start=1) if line.strip()]
    # A kill may have cut off only the newline; then the last answer is complete.
    if torn and (last := _parse_row(torn)) is not None:
        rows.append(last)
    answered = [row for row in rows if "error" not in row]
    _check_questions(out, answered, asked)
    if torn or len(answered) < len(rows):
        write_whole(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in answered))
    return {str(row["id"]) for row in answered}


def _read_row(out: Path, number: int, line: str) -> dict[str, Any]:
    row = _parse_row(line)
    if row is None:
        msg = f"{out} is not a file of answers: line {number} is not an object with `id` and `answer`."
        raise SettingsError(msg, hint="Choose another file for --out.")
    return row


def _parse_row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "id" in row and ("answer" in row or "error" in row) else None


def _check_questions(out: Path, rows: Sequence[dict[str, Any]], asked: Sequence[QuestionLine]) -> None:
    # Two files of questions may use the same ids for different questions.
    questions = {item.key: item.question.strip() for item in asked}
    for row in rows:
        now = questions.get(str(row["id"]))
        if now is not None and row.get("question") != now:
            msg = f"{out} answers another question under the id {row['id']!r}: {str(row.get('question'))[:80]!r}."
            raise SettingsError(msg, hint="Choose another file for --out.")

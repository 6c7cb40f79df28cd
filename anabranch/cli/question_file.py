"""`ask --questions FILE --out FILE`: one JSON object a line, in order; stopped, it goes on where it was."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from anabranch.cli.answer_file import finished_answers
from anabranch.cli.answer_json import result_of
from anabranch.cli.failures import innermost, paragraph
from anabranch.cli.output import notes, say
from anabranch.cli.progress import bar
from anabranch.cli.question_lines import Asked, read_questions
from anabranch.errors import AnabranchError, SettingsError
from graph.answer import graph
from nodes.settings import Context
from nodes.state import CHANNELS, InputState
from nodes.support.dependencies import corpus_of, model_of


async def answer_file(
    questions: Path, out: Path, context: Context, filters: dict[str, Any] | None = None, *, jobs: int = 1
) -> int:
    """Answer every question that `out` does not hold yet.

    Args:
        questions: JSONL with `id` and `question` (or `text`).
        out: JSONL; an answer is appended and flushed as soon as those before it are.
        context: The settings of every question.
        filters: A filter on the documents, for every question.
        jobs: Questions at the same time.

    Returns:
        How many questions failed; each has a line with `error` and is tried again next time.
    """
    if context.review != "none":
        msg = f"review: {context.review} pauses for a person; a file of questions has none."
        raise SettingsError(msg, hint="Leave `review` out.")
    asked = read_questions(questions)
    await corpus_of(context)
    await model_of(context)
    done = finished_answers(out, asked)
    rest = [item for item in asked if item.key not in done]
    if done:
        say(notes(), f"{len(done)} of {len(asked)} are answered in {out} already.", style="dim")
    failed = 0
    with bar("questions", len(rest)) as advance, out.open("a", encoding="utf-8", errors="backslashreplace") as file:
        async for row in _in_order(rest, context, filters, jobs):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            failed += "error" in row
            advance(f"questions ({failed} failed)" if failed else "questions")
    if failed:
        say(notes(), f"{failed} of {len(asked)} failed; the reasons are in {out}. The same command tries them again.")
    return failed


async def _in_order(
    asked: Sequence[Asked], context: Context, filters: dict[str, Any] | None, jobs: int
) -> AsyncIterator[dict[str, Any]]:
    """Yield one row per question in the order asked, at most `jobs` of them in the making."""
    running: deque[asyncio.Task[dict[str, Any]]] = deque()
    waiting = deque(asked)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(asyncio.create_task(_row(waiting.popleft(), context, filters)))
            yield await running[0]
            running.popleft()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _row(asked: Asked, context: Context, filters: dict[str, Any] | None) -> dict[str, Any]:
    try:
        state = await graph.ainvoke(
            InputState(question=asked.question, filters=filters), context=context, output_keys=CHANNELS
        )
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

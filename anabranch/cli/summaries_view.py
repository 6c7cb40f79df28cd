"""`anabranch ingest --summaries`: has the chat model summarise documents, and prints what came of it."""

from __future__ import annotations

import asyncio

from rich.console import Console

from anabranch.agent.graph.dependencies import load_model
from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.nodes.settings import Context
from anabranch.agent.prompts.summary import SUMMARY
from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.output import notes, say
from anabranch.cli.progress import stages
from anabranch.errors import SettingsError
from anabranch.ingestion.summaries import SummaryReport, summarise
from anabranch.models.chat import Chat
from anabranch.store.writer_protocol import Progress
from anabranch.text.plural import counted

MAX_FAILED = 5
"""Failures that are printed; the others are counted."""


def check_model(context: Context) -> None:
    """Refuse settings without a usable chat model, before anything is ingested.

    Raises:
        SettingsError: No model is configured, or it cannot be used as configured.
    """
    asyncio.run(_load(context))


async def _load(context: Context) -> Chat:
    chat = await load_model(resolve_settings(context), anew=True)
    if chat is None:
        msg = "--summaries needs a chat model, and none is configured or was found."
        raise SettingsError(msg, hint="Name one: --model openai:gpt-5-mini, or set ANABRANCH_MODEL.")
    return chat


def run_summaries(corpus: str, context: Context, console: Console) -> int:
    """Summarise, print how many summaries there are and which failed, and return the exit code: 1 if all failed."""
    report, interrupted = SummaryReport(), False
    try:
        with stages() as progress:
            asyncio.run(_summarise(corpus, context, report, progress))
    except KeyboardInterrupt:
        interrupted = True
    cost = f"{counted(report.calls, 'model call')}, {counted(report.tokens, 'token')}"
    say(console, f"{_summaries(report.written)} written ({cost}).")
    for source, reason in report.failed[:MAX_FAILED]:
        say(notes(), f"{source}: no summary: {reason}", style="yellow")
    if len(report.failed) > MAX_FAILED:
        say(notes(), f"... and {counted(len(report.failed) - MAX_FAILED, 'document')} more", style="yellow")
    if report.stopped:
        say(notes(), f"Stopped, because {report.stopped}", style="yellow")
    if report.left or report.more:
        # Of further ones, beyond the most for one run, nobody counted how many there are.
        rest = f"{counted(report.left, 'document')}{' or more' if report.more else ''} left"
        begin = "Interrupted: " if interrupted else ""
        say(notes(), f"{begin}{rest}. Run the same command to continue; no summary is written twice.")
    if interrupted:
        return INTERRUPTED
    return 1 if report.failed and not report.written else 0


async def _summarise(corpus: str, context: Context, report: SummaryReport, progress: Progress) -> None:
    await summarise(corpus, await _load(context), SUMMARY, report, progress=progress)


def _summaries(number: int) -> str:
    return "1 summary" if number == 1 else f"{number:,} summaries"

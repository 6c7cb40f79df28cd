"""Has a chat model write what each document of a corpus is about, so that the retriever `llm` need not read them all.

A summary is the model's words: it is kept beside its document, chooses documents, and is never cited or shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from anabranch.errors import CorpusLockedError, ModelError, SettingsError, UserError
from anabranch.models.chat import Chat
from anabranch.models.usage import metered
from anabranch.readers.faults import describe_fault
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.store.corpus_address import StrPath
from anabranch.store.stores import open_writer
from anabranch.store.writer_protocol import BareDocument, CorpusWriter, Progress, Summary, SummaryWriter, silent
from anabranch.text.normalization import squeeze

MOST = 1_000
"""Documents in one run, so that a large folder does not cost thousands of calls by mistake."""

TOGETHER = 8
"""Documents that are read, summarised at the same time, and committed together."""

LEAVES, MAX_BYTES = 24, 12_000
"""What is read of a document: leaves spread over it, and no more bytes of them: some 3,000 tokens of English."""

REPLY_TOKENS, MAX_CHARS = 300, 1_500
"""Length of a reply, and of what is kept of it."""

LONGEST_WAIT = 60.0
"""Seconds to wait for another writer before what was written is given up."""


@dataclass(slots=True)
class SummaryReport:
    """What became of the documents without a summary.

    Attributes:
        written: How many have one now.
        failed: Source and reason of those that have none because their call failed.
        left: How many were not tried.
        more: Whether there are further ones, beyond the most for one run.
        stopped: Why the run ended early, empty if it did not.
        calls: Model calls, and the tokens of their prompts and replies.
    """

    written: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    left: int = 0
    more: bool = False
    stopped: str = ""
    calls: int = 0
    tokens: int = 0


async def summarise(
    corpus: StrPath, chat: Chat, prompt: str, report: SummaryReport, *, progress: Progress = silent
) -> None:
    """Write a summary of each document that has none, and note in the report what became of them.

    What was written stays, also after an error or a cancellation. Other writers are let in between.

    Raises:
        SettingsError: The store keeps no summaries.
        UserError: The model cannot be used as configured.
        CorpusLockedError: Another process writes for longer than a minute.
    """
    bare = await asyncio.to_thread(_list_bare, corpus)
    report.more, bare = len(bare) > MOST, bare[:MOST]
    report.left = total = len(bare)
    show = partial(progress, "summaries")
    show(0, total)
    with metered() as meter:
        try:
            for start in range(0, total, TOGETHER):
                group = bare[start : start + TOGETHER]
                await _summarise_group(corpus, chat, prompt, group, report, lambda: show(total - report.left, total))
                if report.stopped:
                    break
        finally:
            report.calls, report.tokens = meter.calls, meter.prompt_tokens + meter.output_tokens
            if report.written:
                await asyncio.to_thread(_publish, corpus)


async def _summarise_group(
    corpus: StrPath,
    chat: Chat,
    prompt: str,
    group: Sequence[BareDocument],
    report: SummaryReport,
    advance: Callable[[], None],
) -> None:
    written: list[Summary] = []

    async def one(document: BareDocument, parts: Sequence[str]) -> None:
        text = await _ask(chat, prompt, document.title, parts)
        written.append(Summary(document.doc_id, document.digest, text))
        report.left -= 1
        advance()

    samples = await asyncio.to_thread(_read, corpus, group)
    try:
        replies = await asyncio.gather(*map(one, group, samples), return_exceptions=True)
    finally:
        # Also after a Ctrl-C, which cancels the calls: what was paid for is kept.
        if written:
            report.written += await asyncio.to_thread(_keep, corpus, written)
    failures = [(each.source, reply) for each, reply in zip(group, replies, strict=True) if reply is not None]
    for source, error in failures:
        if not isinstance(error, Exception) or isinstance(error, UserError | CorpusLockedError):
            raise error
        report.left -= 1
        report.failed.append((source, error.message if isinstance(error, ModelError) else describe_fault(error)))
    advance()
    if failures and not written:
        report.stopped = f"no call of {len(group)} succeeded: {report.failed[-1][1]}"


async def _ask(chat: Chat, prompt: str, title: str, parts: Sequence[str]) -> str:
    """Return the model's summary.

    Raises:
        ModelError: The provider failed, or the reply is empty.
    """
    room = MAX_BYTES // max(len(parts), 1)
    cut = [part.encode()[:room].decode(errors="ignore") for part in parts]
    numbered = [(number, title if number == 1 else "", text) for number, text in enumerate(cut, start=1)]
    reply = await chat.ask(prompt, f"{wrap(numbered, new_nonce())}\n\nSummary:", max_tokens=REPLY_TOKENS)
    text = squeeze(reply)
    if not text:
        raise ModelError(f"{chat.settings.model!r} wrote nothing.")
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS].rsplit(" ", 1)[0]


def _list_bare(corpus: StrPath) -> list[BareDocument]:
    with open_writer(corpus, wait=LONGEST_WAIT) as writer:
        return _checked(writer).list_unsummarised("", MOST + 1)


def _read(corpus: StrPath, group: Sequence[BareDocument]) -> list[list[str]]:
    with open_writer(corpus, wait=LONGEST_WAIT) as writer:
        return [_checked(writer).sample_leaves(document.doc_id, LEAVES) for document in group]


def _keep(corpus: StrPath, summaries: Sequence[Summary]) -> int:
    with open_writer(corpus, wait=LONGEST_WAIT) as writer:
        return _checked(writer).keep_summaries(summaries)


def _publish(corpus: StrPath) -> None:
    with open_writer(corpus, wait=LONGEST_WAIT) as writer:
        writer.publish(quick=True)


def _checked(writer: CorpusWriter) -> SummaryWriter:
    if not isinstance(writer, SummaryWriter):
        msg = "The store of this corpus keeps no summaries."
        raise SettingsError(msg, hint="Leave --summaries out, or use a corpus in a folder or in PostgreSQL.")
    return writer

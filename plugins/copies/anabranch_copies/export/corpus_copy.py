"""Copy a corpus to another store by an export and import, then compare every passage.

Unlike an export to a file, a copy contains vectors and the embedder's address, so no embedder is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from anabranch.errors import UserError
from anabranch.store.corpus_address import StrPath, shown_address
from anabranch.store.corpus_facts import COPYING
from anabranch.store.corpus_snapshot import CorpusSnapshot
from anabranch.store.stores import open_snapshot, open_writer
from anabranch.store.writer_protocol import CorpusWriter, Progress, SummaryWriter, silent
from anabranch.text.plural import counted
from anabranch_copies.export.corpus_difference import differences
from anabranch_copies.export.corpus_export import ExportReport, header_of, lines_of
from anabranch_copies.export.json_lines import DocumentLine, EndLine
from anabranch_copies.export.line_import import ImportReport, LineImport

TOGETHER = 500
"""Summaries in one transaction."""


@dataclass(slots=True)
class CopyReport:
    """The result of a copy.

    Attributes:
        documents: Number of documents that this run wrote.
        unchanged: Number of documents that an earlier run wrote.
        passages: Leaves that were compared.
        files: Records of files that were written.
        problems: What was not copied, or differs.
        interrupted: Whether it was interrupted; then nothing was compared.
    """

    documents: int = 0
    unchanged: int = 0
    passages: int = 0
    files: int = 0
    problems: list[str] = field(default_factory=list)
    interrupted: bool = False


def copy_corpus(source: StrPath, target: StrPath, *, wait: float = 0.0, progress: Progress = silent) -> CopyReport:
    """Copy a whole corpus: documents, trees, vectors, access tags, metadata, summaries, records of files, and facts.

    Args:
        source: The corpus; the copy has its state at the start, even if somebody writes to it meanwhile.
        target: No corpus, an empty one, or an unfinished copy of this one, which is continued.
        wait: Seconds to wait for another writer.
        progress: Called with the progress.

    Raises:
        CorpusNotFoundError: There is no corpus at `source`.
        UserError: The corpus at `target` holds something else; nothing is written.
        SettingsError: A store cannot be read as a whole (`open_snapshot`); nothing is written.
        CorpusLockedError: Another process is writing to it.
    """
    report = CopyReport()
    # Refused here if it cannot be opened as a whole, because the copy could not be compared.
    copied = open_snapshot(target)
    with open_snapshot(source) as snapshot, open_writer(target, wait=wait) as writer:
        facts = snapshot.facts()
        facts.pop(COPYING, None)
        _check_target(writer, snapshot, facts, shown_address(target))
        # The mark is written first, so that an unfinished copy always has it.
        writer.keep_meta({**facts, COPYING: snapshot.address})
        try:
            _write(snapshot, writer, report, progress)
            _copy_summaries(snapshot, writer, report)
        except KeyboardInterrupt:
            report.interrupted = True
            return report
        writer.publish(progress=partial(progress, "index"))
        # The writer's lock is still held, so that nobody changes the copy before it is compared.
        with copied as copy:
            report.problems += differences(snapshot, copy, report, progress)
        if not report.problems:
            writer.keep_meta({COPYING: ""})
    return report


def _check_target(writer: CorpusWriter, snapshot: CorpusSnapshot, facts: dict[str, str], address: str) -> None:
    begun = writer.meta(COPYING)
    if not begun:
        if not writer.is_empty() or next(iter(writer.files()), None) is not None:
            msg = f"{address} already holds documents, and is not an unfinished copy."
            raise UserError(msg, hint="Copy to a new corpus; `anabranch corpus import` adds to one.")
    elif begun != snapshot.address:
        msg = f"{address} is an unfinished copy of another corpus, {begun}."
        raise UserError(msg, hint="Finish that copy, or copy to a new corpus.")
    elif not writer.is_empty() and writer.meta("embedder") != facts.get("embedder"):
        msg = f"{address} was begun when {begun} had the embedder {writer.meta('embedder')!r}, which has changed."
        raise UserError(msg, hint="Copy to a new corpus.")


def _write(snapshot: CorpusSnapshot, writer: CorpusWriter, report: CopyReport, progress: Progress) -> None:
    header = header_of(snapshot, vectors=True)
    exported, imported = ExportReport(), ImportReport()
    # Documents without vectors are left out, so that no embedder is needed.
    run = LineImport(writer, header, imported, progress, embedder=header.embedder, embed=lambda _: None)
    try:
        for number, line in enumerate(lines_of(snapshot, header, exported, silent), start=1):
            if isinstance(line, EndLine):
                break
            if isinstance(line, DocumentLine) and line.vectors is None and line.chunks:
                report.problems.append(f"{line.source}: not copied, one of its passages has no usable vector")
                continue
            try:
                run.take(line, number)
            except ValueError as error:
                report.problems.append(f"{line.source}: not copied, {error}")
        run.commit()
    finally:
        report.documents, report.files = imported.added + imported.updated, imported.files
        report.unchanged = imported.unchanged
        report.problems += _list_losses(exported, imported)


def _copy_summaries(snapshot: CorpusSnapshot, writer: CorpusWriter, report: CopyReport) -> None:
    lost, rest = 0, snapshot.summaries()
    while some := list(islice(rest, TOGETHER)):
        lost += len(some) - (writer.keep_summaries(some) if isinstance(writer, SummaryWriter) else 0)
    if lost:
        report.problems.append(f"the summaries of {counted(lost, 'document')}: not copied")


def _list_losses(exported: ExportReport, imported: ImportReport) -> Iterator[str]:
    yield from (f"{torn.source or 'a document'}: not copied, {torn.why}" for torn in exported.torn)
    yield from exported.problems
    yield from (f"{bad.source}: not copied, {bad.reason}" for bad in imported.bad)

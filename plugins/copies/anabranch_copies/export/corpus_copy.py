"""Copies a corpus to another store: an export that is imported at once, and then checked passage by passage.

Unlike those of a file, vectors and the embedder's address come along, so no embedder is asked, or has to be here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from anabranch.errors import UserError
from anabranch.store.corpus_address import StrPath, shown_address
from anabranch.store.corpus_facts import COPYING
from anabranch.store.corpus_snapshot import CorpusSnapshot
from anabranch.store.stores import open_snapshot, open_writer
from anabranch.store.writer_protocol import CorpusWriter, Progress, silent
from anabranch_copies.export.corpus_difference import differences
from anabranch_copies.export.corpus_export import ExportReport, header_of, lines_of
from anabranch_copies.export.json_lines import DocumentLine, EndLine
from anabranch_copies.export.line_import import ImportReport, LineImport


@dataclass(slots=True)
class CopyReport:
    """What became of a corpus.

    Attributes:
        documents: How many were written by this run.
        unchanged: How many an earlier run had written.
        passages: Leaves that were compared.
        files: Records of files that were written.
        problems: What was not copied, or differs.
        interrupted: Whether somebody stopped it; then nothing was compared.
    """

    documents: int = 0
    unchanged: int = 0
    passages: int = 0
    files: int = 0
    problems: list[str] = field(default_factory=list)
    interrupted: bool = False


def copy_corpus(source: StrPath, target: StrPath, *, wait: float = 0.0, progress: Progress = silent) -> CopyReport:
    """Copy all of a corpus: documents, trees, texts, vectors, access tags, metadata, records of files, and facts.

    Args:
        source: The corpus; it may be written to meanwhile, what is copied is of the moment when this begins.
        target: Where there is no corpus or an empty one, or a copy of this one that did not come to its end: that one
            goes on where it was.
        wait: Seconds to wait for another writer.
        progress: Told how far it is.

    Raises:
        CorpusNotFoundError: There is no corpus at `source`.
        UserError: The corpus at `target` holds something else; nothing is written.
        SettingsError: A store cannot be read as a whole (`open_snapshot`); nothing is written.
        CorpusLockedError: Another process is writing to it.
    """
    report = CopyReport()
    # Not opened yet, but refused here: what could not be compared afterwards is not to be written.
    copied = open_snapshot(target)
    with open_snapshot(source) as snapshot, open_writer(target, wait=wait) as writer:
        facts = snapshot.facts()
        facts.pop(COPYING, None)
        _must_be_free(writer, snapshot, facts, shown_address(target))
        # The mark comes with the first thing that is written: what has none was not begun here.
        writer.keep_meta({**facts, COPYING: snapshot.address})
        try:
            _write(snapshot, writer, report, progress)
        except KeyboardInterrupt:
            report.interrupted = True
            return report
        writer.publish(progress=partial(progress, "index"))
        # While the writer's lock is held: nobody changes the copy before it is compared.
        with copied as copy:
            report.problems += differences(snapshot, copy, report, progress)
        if not report.problems:
            writer.keep_meta({COPYING: ""})
    return report


def _must_be_free(writer: CorpusWriter, snapshot: CorpusSnapshot, facts: dict[str, str], shown: str) -> None:
    begun = writer.meta(COPYING)
    if not begun:
        if not writer.is_empty() or next(iter(writer.files()), None) is not None:
            msg = f"{shown} holds documents already, and is no copy that was begun."
            raise UserError(msg, hint="Copy to a new corpus; `anabranch corpus import` adds to one.")
    elif begun != snapshot.address:
        msg = f"{shown} is an unfinished copy of another corpus, {begun}."
        raise UserError(msg, hint="Go on with that one, or copy to a new corpus.")
    elif not writer.is_empty() and writer.meta("embedder") != facts.get("embedder"):
        msg = f"{shown} was begun when {begun} had the embedder {writer.meta('embedder')!r}; now it is another one."
        raise UserError(msg, hint="Copy to a new corpus.")


def _write(snapshot: CorpusSnapshot, writer: CorpusWriter, report: CopyReport, progress: Progress) -> None:
    header = header_of(snapshot, vectors=True)
    exported, imported = ExportReport(), ImportReport()
    # Those without a vector are left out: what is written needs no embedder.
    run = LineImport(writer, header, imported, progress, embedder=header.embedder, embed=lambda _: None)
    try:
        for number, line in enumerate(lines_of(snapshot, header, exported, silent), start=1):
            if isinstance(line, EndLine):
                break
            if isinstance(line, DocumentLine) and line.vectors is None and line.chunks:
                report.problems.append(f"{line.source}: not copied, a passage of it has no vector that can be used")
                continue
            try:
                run.take(line, number)
            except ValueError as error:
                report.problems.append(f"{line.source}: not copied, {error}")
        run.commit()
    finally:
        report.documents, report.files = imported.added + imported.updated, imported.files
        report.unchanged = imported.unchanged
        report.problems += _lost(exported, imported)


def _lost(exported: ExportReport, imported: ImportReport) -> Iterator[str]:
    yield from (f"{torn.source or 'a document'}: not copied, {torn.why}" for torn in exported.torn)
    yield from exported.problems
    yield from (f"{bad.source}: not copied, {bad.reason}" for bad in imported.bad)

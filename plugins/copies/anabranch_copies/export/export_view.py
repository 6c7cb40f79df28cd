"""The output of `anabranch corpus export` and `import`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from anabranch.cli.corpus_view import JSON_HAS_ALL, say_first
from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.output import notes, open_output, results, say, write_json
from anabranch.cli.progress import stages
from anabranch.errors import UserError
from anabranch.store.corpus_address import shown_address
from anabranch.text.plural import counted
from anabranch_copies.export.corpus_export import ExportReport, export_corpus
from anabranch_copies.export.corpus_import import import_corpus
from anabranch_copies.export.line_import import ImportReport


def run_export(corpus: str, output: str, *, vectors: bool) -> int:
    """Export a corpus, report losses, and return the exit code: 1 if there are any."""
    with open_output(output) as file, stages(documents="documents") as progress:
        report = export_corpus(corpus, file, vectors=vectors, progress=progress)
    where = "" if output == "-" else f" to {output}"
    say(notes(), f"Exported {counted(report.documents, 'document')}{where}.")
    _report_losses(report)
    return 0 if report.is_complete else 1


def _report_losses(report: ExportReport) -> None:
    # Each damaged document is named, because it must be ingested again.
    lines = [f"{torn.source or 'a document'}: {torn.why}" for torn in report.torn]
    for line in report.problems:
        say(notes(), f"- {line}", style="red")
    say_first(notes(), lines, "`anabranch corpus verify --json` lists them all", "red")
    if not report.is_complete:
        say(notes(), "After the import, ingest the folders of the missing documents into the new corpus.")


def run_import(
    file: str, corpus: str, *, embedder: str | None, base_url: str | None, wait: float, as_json: bool
) -> int:
    """Import a corpus, report bad lines, and return the exit code: 1 if there are any."""
    with _open_input(file) as lines, stages(documents="documents") as progress:
        report = import_corpus(lines, corpus, embedder=embedder or "", base_url=base_url, wait=wait, progress=progress)
    if as_json:
        write_json({**asdict(report), "bad": [bad._asdict() for bad in report.bad]})
    else:
        _report_import(report, shown_address(corpus))
    if report.interrupted:
        say(notes(), "Interrupted. The corpus is intact and holds what was finished. Run the same command to continue.")
        return INTERRUPTED
    return 1 if report.bad else 0


def _report_import(report: ImportReport, corpus: str) -> None:
    bad = [f"line {bad.line}: {f'{bad.source}: ' if bad.source else ''}{bad.reason}" for bad in report.bad]
    say_first(results(), bad, JSON_HAS_ALL, "red")
    counts = (
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, {len(report.bad)} bad lines"
    )
    embedded = f"{counted(report.embedded, 'passage')} embedded in {report.seconds:.1f} s"
    say(results(), f"{corpus}: {counts}; {embedded}.")


@contextmanager
def _open_input(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        lines = Path(file).open("rb")  # noqa: SIM115  # closed below; only errors of opening are the user's
    except OSError as error:
        msg = f"{file!r} cannot be read: {error.strerror or error}."
        raise UserError(
            msg, hint="Give a file that `anabranch corpus export` wrote, or - for standard input."
        ) from error
    with lines:
        yield lines

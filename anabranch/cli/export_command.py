"""Exporting and importing a corpus, for the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from anabranch.cli.atomic_write import check_folder
from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.stage_bars import stages
from anabranch.errors import UserError
from anabranch.store.export import ExportReport, ImportReport, export_corpus, import_corpus
from anabranch.text.plural import counted

MAX_SHOWN = 100


def export_shown(folder: Path, output: str, *, vectors: bool) -> int:
    """Export a corpus, say what was lost, and return the exit code: 1 where something was."""
    with _written(output) as file, stages(documents="documents") as told:
        report = export_corpus(folder, file, vectors=vectors, progress=told)
    where = "" if output == "-" else f" to {output}"
    say(notes(), f"Exported {counted(report.documents, 'document')}{where}.")
    _tell_losses(report)
    return 0 if report.is_complete else 1


def _tell_losses(report: ExportReport) -> None:
    lines = [f"{torn.source}: {torn.why}; what is left of it is in the export for you to read" for torn in report.torn]
    for line in [*report.problems, *lines[:MAX_SHOWN]]:
        say(notes(), f"- {line}", style="red")
    if len(lines) > MAX_SHOWN:
        say(notes(), f"... and {len(lines) - MAX_SHOWN} more; in the export their lines have the kind 'torn'.")
    if report.unknown:
        said = f"{counted(report.unknown, 'document')} lost without even a name; ingest the folders again"
        say(notes(), f"- {said}", style="red")


@contextmanager
def _written(output: str) -> Iterator[BinaryIO]:
    """Open what is written to; a file appears whole or not at all, and only its owner may read it."""
    path = Path(output)
    if output == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_folder(path, "--output")
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    part = path.with_name(f".{path.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def import_shown(
    file: str, folder: Path, *, embedder: str | None, base_url: str | None, wait: float, as_json: bool
) -> int:
    """Import a corpus, say what could not be taken in, and return the exit code: 1 where something could not."""
    with _opened(file) as lines, stages(documents="documents") as told:
        report = import_corpus(lines, folder, embedder=embedder or "", base_url=base_url, wait=wait, progress=told)
    if as_json:
        write_json({**asdict(report), "bad": [bad._asdict() for bad in report.bad]})
    else:
        _tell(report, folder)
    if report.interrupted:
        say(notes(), "Interrupted. The corpus is good and holds what was finished. Run the same command to go on.")
        return INTERRUPTED
    return 1 if report.bad else 0


def _tell(report: ImportReport, folder: Path) -> None:
    for bad in report.bad[:MAX_SHOWN]:
        say(results(), f"- line {bad.line}: {f'{bad.source}: ' if bad.source else ''}{bad.reason}", style="red")
    if len(report.bad) > MAX_SHOWN:
        say(results(), f"... and {len(report.bad) - MAX_SHOWN} more; --json lists them all.")
    counts = (
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, {len(report.bad)} bad lines"
    )
    embedded = f"{counted(report.embedded, 'passage')} embedded in {report.seconds:.1f} s"
    say(results(), f"{folder}: {counts}; {embedded}.")


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        lines = Path(file).open("rb")  # noqa: SIM115  # closed below, and only opening it is the user's mistake
    except OSError as error:
        msg = f"{file!r} cannot be read: {error.strerror or error}."
        raise UserError(
            msg, hint="Give a file that `anabranch corpus export` wrote, or - for standard input."
        ) from error
    with lines:
        yield lines

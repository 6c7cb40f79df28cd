"""Import an exported corpus line by line.

A document with the name of one in the corpus replaces it. A bad line is reported and skipped.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from anabranch.errors import UserError
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_embedder import embed_missing
from anabranch.store.stores import open_writer
from anabranch.store.writer_protocol import Progress, silent
from anabranch.text.normalization import squeeze
from anabranch_copies.export.compatibility import resolve_embedder
from anabranch_copies.export.json_lines import (
    HEADER,
    LINES,
    LONGEST,
    EndLine,
    ExportLine,
    Header,
    parsed_line,
    record_of,
)
from anabranch_copies.export.line_import import Bad, ImportReport, LineImport


def import_corpus(
    file: BinaryIO,
    corpus: StrPath,
    *,
    embedder: str = "",
    base_url: str | None = None,
    wait: float = 0.0,
    progress: Progress = silent,
) -> ImportReport:
    """Import an exported corpus, with only a few documents in memory; create the corpus if it is missing.

    Args:
        file: What `export_corpus` wrote.
        corpus: The corpus.
        embedder: How to embed; empty for the embedder of the corpus, or for the bundled one if the export has it.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        wait: Seconds to wait for another writer.
        progress: Called with the progress.

    Raises:
        UserError: It is not an export, or has other sizes or another language than the corpus.
        EmbedderMismatchError: It has vectors of another embedder than the corpus, or the embedder must be named.
        CorpusLockedError: Another process is writing.
        OperationError: The disk is full, or fails.
    """
    began = time.perf_counter()
    header = _header(file)
    report = ImportReport()
    with open_writer(corpus, wait=wait) as writer:
        model = resolve_embedder(writer, header, embedder, base_url)

        def count(texts: int) -> None:
            report.embedded += texts

        def embed(texts: Iterable[str]) -> None:
            embed_missing(writer, model, texts, count)

        run = LineImport(writer, header, report, progress, embedder=model.name, embed=embed)
        is_done = False
        try:
            _take_all(file, run, report)
            is_done = True
        except KeyboardInterrupt:
            report.interrupted = True
        finally:
            writer.publish(quick=not is_done, progress=partial(progress, "index"))
    report.seconds = time.perf_counter() - began
    return report


def _header(file: BinaryIO) -> Header:
    try:
        return parsed_line(record_of(file.readline(LONGEST)), HEADER)
    except ValueError as error:
        msg = f"This is not an exported corpus: {squeeze(str(error))}."
        raise UserError(msg, hint="Give a file that `anabranch corpus export` wrote.") from error


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines after the first one with their numbers; a line that is too long is truncated."""
    number = 1
    while line := file.readline(LONGEST):
        number += 1
        rest = line
        # The rest of a line that is too long is skipped.
        while len(rest) == LONGEST and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST)
        if line.strip():
            yield number, line


def _take_all(file: BinaryIO, run: LineImport, report: ImportReport) -> None:
    """Import every good line."""
    number, met = 1, 0
    end: EndLine | None = None
    for number, line in _lines(file):
        source = ""
        try:
            record = record_of(line)
            source = str(record.get("source") or record.get("path") or "")
            # Counted before other errors, to compare with the count in the last line.
            met += record.get("kind") == "document"
            parsed = _check_not_ended(end, parsed_line(record, LINES))
            if isinstance(parsed, EndLine):
                end = parsed
            else:
                run.take(parsed, number)
        # A bad line is skipped. Errors of the disk are not ValueErrors, and end the run.
        except (ValueError, RecursionError) as error:
            report.bad.append(Bad(number, squeeze(source), squeeze(str(error))))
    run.commit()
    if end is None:
        report.bad.append(Bad(number + 1, "", "the export is cut off here"))
    elif end.documents != met:
        report.bad.append(Bad(number, "", f"the export has {end.documents} documents, but {met} were found"))


def _check_not_ended(end: EndLine | None, line: ExportLine) -> ExportLine:
    if end is not None:
        raise ValueError("it comes after the last line")
    return line

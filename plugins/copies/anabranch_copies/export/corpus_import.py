"""Takes an exported corpus into another one, line by line.

A document that is in the corpus under the same name is replaced. A bad line is told of and costs what is on it.
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
from anabranch_copies.export.compatibility import settled
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
    """Take an exported corpus into a corpus, creating it where it is missing; a few documents are in memory at a time.

    Args:
        file: What `export_corpus` wrote.
        corpus: The corpus.
        embedder: How to embed; empty for what the corpus was made with, or for the bundled one if the export was.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        wait: Seconds to wait for another writer.
        progress: Told how far it is.

    Raises:
        UserError: It is no export, or one of other sizes or another language than the corpus.
        EmbedderMismatchError: It has vectors of another embedder than the corpus, or the embedder has to be named.
        CorpusLockedError: Another process is writing.
        OperationError: The disk is full, or fails.
    """
    began = time.perf_counter()
    header = _header(file)
    report = ImportReport()
    with open_writer(corpus, wait=wait) as writer:
        model = settled(writer, header, embedder, base_url)

        def counted(texts: int) -> None:
            report.embedded += texts

        def embed(texts: Iterable[str]) -> None:
            embed_missing(writer, model, texts, counted)

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
    """Yield the lines after the first one with their numbers; of one that is too long, what it begins with."""
    number = 1
    while line := file.readline(LONGEST):
        number += 1
        rest = line
        # The rest of a line that is too long is read and thrown away, so that the next line begins where it should.
        while len(rest) == LONGEST and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST)
        if line.strip():
            yield number, line


def _take_all(file: BinaryIO, run: LineImport, report: ImportReport) -> None:
    """Take in every line that is good."""
    number, met = 1, 0
    end: EndLine | None = None
    for number, line in _lines(file):
        source = ""
        try:
            record = record_of(line)
            source = str(record.get("source") or record.get("path") or "")
            # Counted before anything else can be wrong with it: the last line says how many there are.
            met += record.get("kind") == "document"
            parsed = _before(end, parsed_line(record, LINES))
            if isinstance(parsed, EndLine):
                end = parsed
            else:
                run.take(parsed, number)
        # A bad line costs itself. What the disk raises is no ValueError and ends the run.
        except (ValueError, RecursionError) as error:
            report.bad.append(Bad(number, squeeze(source), squeeze(str(error))))
    run.commit()
    if end is None:
        report.bad.append(Bad(number + 1, "", "the export is cut off here"))
    elif end.documents != met:
        said = f"the export has {end.documents} documents; {met} of them came"
        report.bad.append(Bad(number, "", said))


def _before(end: EndLine | None, line: ExportLine) -> ExportLine:
    if end is not None:
        raise ValueError("it stands behind the last line")
    return line

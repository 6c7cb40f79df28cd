"""Write a corpus as lines of JSON; from a damaged corpus, every intact document.

Damaged documents are named, so that they can be ingested again from their files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from anabranch.chunking.hierarchical_chunker import Sizes, check_sizes
from anabranch.chunking.leaf_unit import LEAF_UNIT
from anabranch.errors import CorpusDamagedError, SettingsError
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_snapshot import CorpusSnapshot
from anabranch.store.stored_document import ExaminedDocument
from anabranch.store.stores import open_snapshot
from anabranch.store.writer_protocol import Progress, silent
from anabranch_copies.export.document_lines import document_line
from anabranch_copies.export.json_lines import EndLine, ExportLine, FileLine, Header, line_of


class Torn(NamedTuple):
    """A damaged document that was left out; `source` is empty if it cannot be read."""

    source: str
    why: str


@dataclass(slots=True)
class ExportReport:
    """The result of an export.

    Attributes:
        documents: Number of exported documents.
        files: Number of exported records of files.
        torn: Damaged documents.
        problems: Other parts that could not be read.
    """

    documents: int = 0
    files: int = 0
    torn: list[Torn] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was lost."""
        return not (self.torn or self.problems)


def export_corpus(
    corpus: StrPath, out: BinaryIO, *, vectors: bool = False, progress: Progress = silent
) -> ExportReport:
    """Write a corpus as lines of JSON (`anabranch_copies.export.json_lines`), one document in memory at a time.

    Args:
        corpus: The corpus; it may be damaged or read-only, and others may write to it meanwhile.
        out: Where to write.
        vectors: Also write the vectors; without them, an import must embed again.
        progress: Called with the progress.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: Not even the settings in the database can be read, or it has another version.
    """
    report = ExportReport()
    try:
        with open_snapshot(corpus) as snapshot:
            header = header_of(snapshot, vectors=vectors)
            _write(out, header)
            for line in lines_of(snapshot, header, report, progress):
                _write(out, line)
    except CorpusDamagedError as error:
        # An error of another version has no cause, and its own hint; here, an export cannot save anything.
        if error.__cause__ is None:
            raise
        raise CorpusDamagedError(error.message, hint="Ingest the documents into a new folder.") from error
    return report


def header_of(snapshot: CorpusSnapshot, *, vectors: bool) -> Header:
    """Return the first line for a corpus.

    Raises:
        CorpusDamagedError: The settings of the corpus cannot be read.
    """
    facts = snapshot.facts()
    dimension = snapshot.dimension()
    return Header(
        embedder=facts.get("embedder", ""),
        dimension=dimension,
        sizes=_sizes(facts.get("sizes", "")),
        leaf_unit=facts.get(LEAF_UNIT, ""),
        # Empty if it is not decided yet, which a reader takes for English.
        language=facts.get("language") or "english",
        documents=snapshot.count(),
        vectors=vectors and dimension > 0,
    )


def lines_of(
    snapshot: CorpusSnapshot, header: Header, report: ExportReport, progress: Progress
) -> Iterator[ExportLine]:
    """Yield the lines after the first one; the report is complete after the last."""
    try:
        for each in snapshot.documents():
            if each.row is None or each.fault is not None:
                report.torn.append(Torn(each.name, str(each.fault)))
                continue
            vectors = _vectors(snapshot, each) if header.vectors else None
            yield document_line(each.row, each.chunks, vectors)
            report.documents += 1
            progress("documents", report.documents, header.documents or 0)
    except CorpusDamagedError as error:
        report.problems.append(error.message)
    # SQLite reports no error for an emptied page; its documents are just missing.
    lost = (header.documents or 0) - report.documents - len(report.torn)
    if lost > 0:
        report.problems.append(f"{lost} documents are missing")
    yield from _files(snapshot, report)
    yield EndLine(documents=report.documents, files=report.files)


def _vectors(snapshot: CorpusSnapshot, each: ExaminedDocument) -> bytes | None:
    """Return the vectors of all leaves; None if one is missing, because an import then embeds them again."""
    found = snapshot.vectors(each)
    present = [vector for vector in found if vector is not None]
    return b"".join(present) if len(present) == len(found) else None


def _files(snapshot: CorpusSnapshot, report: ExportReport) -> Iterator[FileLine]:
    """Yield the records of files after all documents, because an import needs the documents first."""
    try:
        for (path, source, digest, access, *_), documents in snapshot.files():
            yield FileLine(path=path, source=source, sha256=digest, access=list(access), documents=documents)
            report.files += 1
    except (CorpusDamagedError, ValueError) as error:
        note = "Files that are not in the export will be read again by the next ingest."
        what = error.message if isinstance(error, CorpusDamagedError) else f"the records of files: {error}"
        report.problems.append(f"{what}. {note}")


def _write(out: BinaryIO, line: Header | ExportLine) -> None:
    record = line.model_dump()
    if record.get("vectors", "") is None:
        del record["vectors"]
    out.write(line_of(record))


def _sizes(text: str) -> Sizes | None:
    try:
        return check_sizes(json.loads(text))
    except (ValueError, TypeError, SettingsError):
        return None

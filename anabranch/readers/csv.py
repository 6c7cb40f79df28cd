"""Read tables of delimited text (CSV, TSV), streamed, so that the file may be larger than memory."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from anabranch.errors import ReadingError
from anabranch.readers.csv_records import Dialect, Records, dialect_of
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import in_parts
from anabranch.readers.encoding import codec_of
from anabranch.readers.table_blocks import table_texts
from anabranch.text.normalization import clean_counted

_WHOLE = 1 << 25
_SAMPLE = 1 << 20
_SAMPLE_LINES = 200
_LONGEST_LINE = 1 << 24
_FEW_NULS = 0.01
_TOLD_DIALECT = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


def read_delimited(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of a CSV or TSV file, or its parts where it is long.

    Delimiter, quotation mark and encoding are recognised. A ragged row keeps all its fields, and a quote that never
    closes is taken for a letter.

    Raises:
        ReadingError: `empty`, `broken` (binary data), `encoding`, `too_large` (a line that never ends).
    """
    is_tabbed = path.suffix.lower() in {".tsv", ".tab"}
    with path.open("rb") as file:
        codec, notes = _codec(file, source)
        file.seek(0)
        with io.TextIOWrapper(file, encoding=codec, errors="replace", newline="") as text:
            table = _Table(_lines(text, source), "\t" if is_tabbed else ",")
            whole = Document(source, path.stem, (), {"format": "tsv" if is_tabbed else "csv"}, key=source, notes=notes)
            found = False
            for document in in_parts((Block(part) for part in table_texts(table.rows())), whole, table.notes):
                found = True
                yield document
    if not found:
        raise ReadingError(f"{source!r} holds no text.", reason="empty")


class _Table:
    """The rows of one file; counts what is done to them."""

    def __init__(self, lines: Iterator[str], preferred: str) -> None:
        first = list(islice(lines, _SAMPLE_LINES))
        told = _TOLD_DIALECT.fullmatch(first[0]) if first else None
        dialect = Dialect(told[1], '"') if told else dialect_of(first, preferred)
        self._records = Records(chain(first[1:] if told else first, lines), dialect)
        self._hidden = 0

    def rows(self) -> Iterator[Sequence[str]]:
        return ([self._cell(cell) for cell in record] for record in self._records)

    def notes(self) -> Iterator[str]:
        if self._records.unclosed:
            yield f"quotes that never close were taken for letters ({self._records.unclosed})"
        if self._hidden:
            yield f"invisible characters were removed ({self._hidden})"

    def _cell(self, cell: str) -> str:
        if cell.isascii() and cell.isprintable():
            return cell.strip()
        cleaned, hidden = clean_counted(cell)
        self._hidden += hidden
        return cleaned.strip()


def _lines(text: io.TextIOWrapper, source: str) -> Iterator[str]:
    while line := text.readline(_LONGEST_LINE):
        if len(line) >= _LONGEST_LINE:
            msg = f"{source!r} has a line of more than {_LONGEST_LINE} characters."
            raise ReadingError(msg, reason="too_large", hint="Check that it is a table.")
        yield line


def _codec(file: BinaryIO, source: str) -> tuple[str, tuple[str, ...]]:
    """Return how to decode a file; of a large one only the head is judged, and the first place that is not UTF-8."""
    sample = file.read(_WHOLE)
    if len(sample) == _WHOLE:
        file.seek(0)
        broken = _first_fault(iter(lambda: file.read(_SAMPLE), b""))
        sample = sample[: sample.rfind(b"\n", 0, _SAMPLE) + 1] or sample[:_SAMPLE]
        if broken is not None:
            file.seek(max(0, broken - _SAMPLE))
            around = file.read(2 * _SAMPLE)
            sample += around[around.find(b"\n") + 1 : around.rfind(b"\n") + 1]
    zeros = sample.count(0)
    # Programs that fill fields with NUL bytes write text all the same; UTF-16 has far more of them.
    return codec_of(sample.replace(b"\x00", b"") if zeros <= _FEW_NULS * len(sample) else sample, source)


def _first_fault(chunks: Iterable[bytes]) -> int | None:
    """Return about where the first bytes stand that are no UTF-8, to the length of a chunk."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    for chunk in chunks:
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            return position
        position += len(chunk)
    return None

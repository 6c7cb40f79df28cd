"""Read tables of delimited text (CSV, TSV), streamed, so that the file may be larger than memory.

Records are split tolerantly: one quote that never closes must not swallow the rest of a file.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import in_parts
from anabranch.readers.encoding import codec_of
from anabranch.readers.size_limit import limited
from anabranch.readers.table_blocks import table_texts
from anabranch.text.normalization import clean_counted

_WHOLE = 1 << 25  # bytes that are judged whole, and held for it
_SAMPLE = 1 << 20
_SAMPLE_LINES = 200  # from which delimiter and quotation mark are told
_LONGEST_LINE = 1 << 24  # so that binary data without line ends does not fill the memory
_FEW_NULS = 0.01
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


@limited(most_bytes=None)
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
            table = _CsvTable(_lines(text, source), "\t" if is_tabbed else ",")
            whole = Document(source, path.stem, (), {"format": "tsv" if is_tabbed else "csv"}, key=source, notes=notes)
            yield from in_parts((Block(part) for part in table_texts(table.rows())), whole, table.notes)


class _CsvTable:
    """The rows of one file; counts what is done to them."""

    def __init__(self, lines: Iterator[str], preferred: str) -> None:
        first = list(islice(lines, _SAMPLE_LINES))
        separator = _SEPARATOR_LINE.fullmatch(first[0]) if first else None
        dialect = Dialect(separator[1], '"') if separator else dialect_of(first, preferred)
        self._records = Records(chain(first[1:] if separator else first, lines), dialect)
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


_DELIMITERS = "\t;|,"  # those rarer in prose first
_LONGEST_RECORD = 1 << 24  # past it, a quote was never closed
_MOST_WASTED = 1 << 26  # characters read twice; past it, quotes are letters in the rest of the file


@dataclass(frozen=True, slots=True)
class Dialect:
    """What parts fields, and what may stand around one (empty: nothing)."""

    delimiter: str
    quote: str


def dialect_of(lines: Sequence[str], preferred: str) -> Dialect:
    """Return the dialect under which most of these lines have the same number of fields.

    Args:
        lines: The first ones of a file.
        preferred: The delimiter of a file whose lines none of them parts.
    """
    scores = {delimiter: _evenness(lines, delimiter) for delimiter in _DELIMITERS}
    best = max(scores, key=lambda delimiter: scores[delimiter])
    delimiter = best if scores[best][0] else preferred
    return Dialect(delimiter, _quote(lines, delimiter))


class Records:
    """The records of one text, in order.

    Attributes:
        unclosed: How many quotes were found that never close; each was taken for a letter.
    """

    def __init__(self, lines: Iterable[str], dialect: Dialect) -> None:
        """Take the lines with their ends; they are read as they are needed."""
        self.unclosed = 0
        self._lines = iter(lines)
        self._dialect = dialect
        self._again: deque[str] = deque()
        self._pulled: list[str] = []
        self._wasted = 0
        # A field may be as long as a record may; the limit is the process's, and only ever goes up.
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_RECORD))

    def __iter__(self) -> Iterator[list[str]]:
        """Yield each record as its fields; an empty line is a record without one."""
        reader = self._reader(self._dialect)
        while True:
            self._pulled = []
            try:
                record = next(reader)
            except StopIteration:
                return
            except (csv.Error, _UnclosedError):
                record = None
            if record is None or not self._is_sound():
                record = self._literally()
                reader = self._reader(self._dialect)
            yield record

    def _reader(self, dialect: Dialect) -> Iterator[list[str]]:
        quoted = bool(dialect.quote) and self._wasted < _MOST_WASTED
        return csv.reader(
            self._pull(),
            delimiter=dialect.delimiter,
            quotechar=dialect.quote if quoted else None,
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        )

    def _pull(self) -> Iterator[str]:
        length = 0
        while (line := self._next()) is not None:
            if not self._pulled:
                length = 0
            self._pulled.append(line)
            length += len(line)
            if length > _LONGEST_RECORD and len(self._pulled) > 1:
                raise _UnclosedError
            yield line

    def _next(self) -> str | None:
        return self._again.popleft() if self._again else next(self._lines, None)

    def _is_sound(self) -> bool:
        """Tell whether a record of several lines is well formed, or a quote that never closes ran into the next one."""
        if len(self._pulled) < 2:
            return True
        delimiter, quote = self._dialect.delimiter, self._dialect.quote
        try:
            # Strictly this time: otherwise `csv` takes whatever follows a quote for more of the field.
            return len(list(csv.reader(self._pulled, delimiter=delimiter, quotechar=quote, strict=True))) == 1
        except csv.Error:
            return False

    def _literally(self) -> list[str]:
        """Return the fields of the first line pulled, with quotes as letters, and put the other lines back."""
        self.unclosed += 1
        self._wasted += sum(map(len, self._pulled))
        self._again.extendleft(reversed(self._pulled[1:]))
        line = self._pulled[0].rstrip("\r\n")
        return line.split(self._dialect.delimiter)


class _UnclosedError(Exception):
    """A record has grown past all bounds."""


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[float, bool]:
    """Return the share of records with the usual number of fields, and whether the first has it; 0 for one field."""
    widths = [len(record) for record in Records(lines, Dialect(delimiter, '"')) if any(record)]
    usual, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
    # Rounded, so that a few ragged lines do not decide; what parts the values of one column is not in its header.
    return (round(times / len(widths), 1), widths[0] == usual) if usual > 1 else (0.0, False)


def _quote(lines: Sequence[str], delimiter: str) -> str:
    """Return the quotation mark that stands around fields: the single one only where it is used throughout."""
    fields = [field.strip() for line in lines for field in line.rstrip("\r\n").split(delimiter)]
    single = sum(len(field) > 1 and field[0] == field[-1] == "'" for field in fields)
    double = sum(field.startswith('"') for field in fields)
    return "'" if single > double and 4 * single >= len(fields) else '"'

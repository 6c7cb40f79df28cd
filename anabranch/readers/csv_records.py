"""Split delimited text into records, tolerantly: one quote that never closes must not swallow the rest of a file."""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_DELIMITERS = "\t;|,"  # those rarer in prose first
_LONGEST_RECORD = 1 << 24
_MOST_WASTED = 1 << 26


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

"""Reads rows out of a SQLite file page by page, where SQLite itself gives up because of one bad page.

Rows lie in the leaf pages of a table; the pages above them only say where. So every page that is a leaf is read by
itself, and what is damaged costs the rows that lie in it (https://www.sqlite.org/fileformat2.html).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

Value = int | float | str | bytes | None

PAGE_SIZE = 4096
"""Of the databases that this program makes, for where the header of the file is damaged."""

_MAGIC = b"SQLite format 3\0"
_LEAF = 0x0D
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


class Pages:
    """The pages of a database; those in its write-ahead log stand for older ones. To be used in a `with` statement."""

    def __init__(self, database: Path) -> None:
        """Open the files; only places are kept in memory."""
        self._file: BinaryIO = database.open("rb")
        head = self._file.read(100)
        whole = head.startswith(_MAGIC) and len(head) == 100
        (size,) = struct.unpack(">H", head[16:18]) if whole else (PAGE_SIZE,)
        size = 65536 if size == 1 else size
        self.size = size if size >= 512 and size & (size - 1) == 0 else PAGE_SIZE
        self.usable = self.size - (head[20] if whole and head[20] <= 32 else 0)
        self._log, self._newer = _log_of(database.with_name(f"{database.name}-wal"), self.size)
        self.count = max(database.stat().st_size // self.size, *self._newer, 0)
        (self._first_free,) = struct.unpack(">I", self.page(1)[32:36]) if whole else (0,)

    def __enter__(self) -> Pages:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if self._log is not None:
            self._log.close()

    def page(self, number: int) -> bytes:
        """Return a page, filled up with zeros where the file ends in it."""
        file, place = self._file, (number - 1) * self.size
        if self._log is not None and number in self._newer:
            file, place = self._log, self._newer[number]
        file.seek(place)
        return file.read(self.size).ljust(self.size, b"\0")

    def free(self) -> set[int]:
        """Return the pages that are not in use, as far as their list can be followed: old rows may lie in them."""
        found: set[int] = set()
        trunk = self._first_free
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.page(trunk)
            following, leaves = struct.unpack(">II", page[:8])
            leaves = min(leaves, (self.size - 8) // 4)
            found.update(struct.unpack(f">{leaves}I", page[8 : 8 + 4 * leaves]))
            trunk = following
        return found

    def rows(self) -> Iterator[tuple[int, list[Value]]]:
        """Yield rowid and values of each row of whatever table, page by page; unreadable ones are left out."""
        free = self.free()
        for number in range(1, self.count + 1):
            if number not in free:
                yield from self._rows_of(number)

    def _rows_of(self, number: int) -> Iterator[tuple[int, list[Value]]]:
        page = self.page(number)
        start = 100 if number == 1 else 0
        if page[start] != _LEAF:
            return
        (cells,) = struct.unpack(">H", page[start + 3 : start + 5])
        for cell in range(min(cells, self.size // 4)):
            try:
                (place,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
                yield self._row(page, place)
            except (ValueError, IndexError, struct.error):  # a bad pointer, a bad length, bytes that are no text
                continue

    def _row(self, page: bytes, place: int) -> tuple[int, list[Value]]:
        length, place = _varint(page, place)
        rowid, place = _varint(page, place)
        most = self.usable - 35
        if length <= most:
            payload = page[place : place + length]
        else:
            least = (self.usable - 12) * 32 // 255 - 23
            here = least + (length - least) % (self.usable - 4)
            here = here if here <= most else least
            (overflow,) = struct.unpack_from(">I", page, place + here)
            payload = page[place : place + here] + self._overflow(overflow, length - here)
        if len(payload) != length:
            raise ValueError("a row is cut off")
        return rowid, _values(payload)

    def _overflow(self, number: int, length: int) -> bytes:
        if length > self.count * self.size:
            raise ValueError("a row is longer than the file")
        parts: list[bytes] = []
        while length > 0:
            if not 0 < number <= self.count:
                raise ValueError("a row goes on nowhere")
            page = self.page(number)
            parts.append(page[4 : 4 + min(length, self.usable - 4)])
            length -= len(parts[-1])
            (number,) = struct.unpack(">I", page[:4])
        return b"".join(parts)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of 1 to 9 bytes, and the place after it."""
    value = 0
    for count in range(8):
        byte = data[place + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    return value << 8 | data[place + 8], place + 9


def _values(payload: bytes) -> list[Value]:
    header, place = _varint(payload, 0)
    if header > len(payload):
        raise ValueError("a row has no end")
    kinds = []
    while place < header:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        value, place = _value(payload, place, kind)
        values.append(value)
    return values


def _value(payload: bytes, place: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[kind], place
    if kind in _INTEGERS:
        end = place + _INTEGERS[kind]
        return int.from_bytes(payload[place:end], "big", signed=True), end
    if kind == 7:
        return struct.unpack_from(">d", payload, place)[0], place + 8
    if kind < 12:
        raise ValueError("a value of no known kind")
    end = place + (kind - 12) // 2
    if end > len(payload):
        raise ValueError("a value is cut off")
    content = payload[place:end]
    return (content.decode("utf-8") if kind % 2 else content), end


def _log_of(log: Path, size: int) -> tuple[BinaryIO | None, dict[int, int]]:
    """Return the write-ahead log and where in it the newest committed edition of each page lies."""
    if not log.is_file() or log.stat().st_size <= 32:
        return None, {}
    file: BinaryIO = log.open("rb")
    salt = file.read(32)[16:24]
    committed: dict[int, int] = {}
    pending: dict[int, int] = {}
    place = 32
    while len(head := file.read(24)) == 24 and head[8:16] == salt:
        number, pages = struct.unpack(">II", head[:8])
        pending[number] = place + 24
        if pages:
            committed |= pending
            pending = {}
        place += 24 + size
        file.seek(place)
    return file, committed

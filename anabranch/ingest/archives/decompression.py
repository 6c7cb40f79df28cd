"""Unpack a compressed stream in bounded pieces and with bounded memory."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from typing_extensions import Buffer

_PIECE = 1 << 16
_MOST_MEMORY = 256 << 20
"""Of an XZ file's dictionary, whose size is in the file: `xz -9` needs 65 MiB, the format allows 4 GiB."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Unpacked(io.RawIOBase):
    """The bytes of one or several compressed streams, one after the other."""

    def __init__(self, path: Path, fresh: Callable[[], _Decompressor]) -> None:
        self._file = path.open("rb")
        self._fresh = fresh
        self._stream = fresh()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        piece = self._piece(memoryview(buffer).nbytes)
        memoryview(buffer).cast("B")[: len(piece)] = piece
        return len(piece)

    def _piece(self, size: int) -> bytes:
        """Return at most `size` bytes, at once what there is: what comes before damage must not be lost with it."""
        while True:
            data = b""
            if self._stream.eof:
                data = self._stream.unused_data.lstrip(b"\0") or self._file.read(_PIECE).lstrip(b"\0")
                if not data:
                    return b""
                self._stream = self._fresh()
            elif self._stream.needs_input:
                data = self._file.read(_PIECE)
            if piece := self._stream.decompress(data, size):
                return piece
            if not data and self._stream.needs_input and not self._stream.eof:
                raise EOFError("it breaks off before its end")

    def close(self) -> None:
        self._file.close()
        super().close()


class _Gzip:
    """`zlib` in the manner of the other two."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


def _xz() -> _Decompressor:
    return lzma.LZMADecompressor(memlimit=_MOST_MEMORY)


_FRESH: dict[str, Callable[[], _Decompressor]] = {"gz": _Gzip, "bz2": bz2.BZ2Decompressor, "xz": _xz}


def unpacked(path: Path, packing: str) -> BinaryIO:
    """Open a file that is compressed by `gz`, `bz2` or `xz`, or not at all (empty), for reading what is in it.

    Reading raises OSError, EOFError, zlib.error or lzma.LZMAError where it is damaged; all before it has come out.
    """
    if packing:
        return cast("BinaryIO", _Unpacked(path, _FRESH[packing]))
    return path.open("rb")

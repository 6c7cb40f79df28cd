"""Read a compressed file piece by piece, so that the caller can limit bytes, memory and time."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from typing_extensions import Buffer

_BLOCK = 1 << 16
_MOST_MEMORY = 256 << 20
"""Most memory of an XZ file's dictionary: `xz -9` needs 65 MiB, the format allows 4 GiB."""

Unpacked = io.BufferedReader | gzip.GzipFile | bz2.BZ2File


class WatchedFile(io.FileIO):
    """A file that calls a check, which may raise, before each read.

    A decompressor reads until it has a byte to return, which it never has for a million empty members.
    """

    def __init__(self, path: Path, check: Callable[[], object]) -> None:
        """Open it for reading."""
        super().__init__(path)
        self._check = check

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as any file, unless the check raises."""
        self._check()
        return super().read(-1 if size is None else size) or b""

    def readinto(self, buffer: Buffer, /) -> int:
        """Read as any file, unless the check raises."""
        self._check()
        return super().readinto(buffer) or 0


@contextmanager
def open_unpacked(path: Path, packing: str, check: Callable[[], object] = lambda: None) -> Iterator[Unpacked]:
    """Open a file that is compressed with `gz`, `bz2` or `xz`, or not at all (empty), and read the content.

    `read1` returns available data at once, so that data before a damage is not lost. It raises OSError, EOFError,
    zlib.error or lzma.LZMAError where the file is damaged.

    Args:
        path: The file.
        packing: The compression.
        check: Called before each read of the compressed file; it may raise.
    """
    with ExitStack() as stack:
        file = _decompress(stack.enter_context(WatchedFile(path, check)), packing)
        stack.enter_context(file)
        yield file


def _decompress(packed: WatchedFile, packing: str) -> Unpacked:
    if packing == "gz":
        return gzip.GzipFile(fileobj=packed)
    if packing == "bz2":
        return bz2.BZ2File(packed)
    return io.BufferedReader(_Xz(packed) if packing == "xz" else packed)


class _Xz(io.RawIOBase):
    """One or several XZ streams; `lzma.LZMAFile` has no memory limit."""

    def __init__(self, packed: WatchedFile) -> None:
        self._file = packed
        self._stream = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        piece = self._piece(view.nbytes)
        view[: len(piece)] = piece
        return len(piece)

    def _piece(self, size: int) -> bytes:
        while True:
            data = b""
            if self._stream.eof:
                data = self._stream.unused_data.lstrip(b"\0") or self._file.read(_BLOCK).lstrip(b"\0")
                if not data:
                    return b""
                self._stream = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
            elif self._stream.needs_input:
                data = self._file.read(_BLOCK)
            if piece := self._stream.decompress(data, size):
                return piece
            if not data and self._stream.needs_input and not self._stream.eof:
                raise EOFError("it is cut off")

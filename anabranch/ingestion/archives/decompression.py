"""What is in a compressed file, piece by piece: its bytes, its memory and its time are for the caller to bound."""

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
"""Of an XZ file's dictionary, whose size is in the file: `xz -9` needs 65 MiB, the format allows 4 GiB."""

Unpacked = io.BufferedReader | gzip.GzipFile | bz2.BZ2File


class WatchedFile(io.FileIO):
    """A file that lets a check, which may raise, look at the time before each piece is read.

    A reader of compressed data goes on until it has a byte to give: of a million empty members, it gives none.
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
def unpacked(path: Path, packing: str, check: Callable[[], object] = lambda: None) -> Iterator[Unpacked]:
    """Open a file that is compressed by `gz`, `bz2` or `xz`, or not at all (empty), for reading what is in it.

    `read1` yields at most as much as asked for and at once what there is, so that what comes before damage is not lost
    with it. It raises OSError, EOFError, zlib.error or lzma.LZMAError where the file is damaged.

    Args:
        path: The file.
        packing: How it is compressed.
        check: Called before each piece of the compressed file is read; what it raises ends the reading.
    """
    with ExitStack() as stack:
        file = _opened(stack.enter_context(WatchedFile(path, check)), packing)
        stack.enter_context(file)
        yield file


def _opened(packed: WatchedFile, packing: str) -> Unpacked:
    if packing == "gz":
        return gzip.GzipFile(fileobj=packed)
    if packing == "bz2":
        return bz2.BZ2File(packed)
    return io.BufferedReader(_Xz(packed) if packing == "xz" else packed)


class _Xz(io.RawIOBase):
    """One or several XZ streams, one after the other; `lzma.LZMAFile` has no bound on memory."""

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
                raise EOFError("it breaks off before its end")

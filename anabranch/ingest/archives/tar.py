"""Members of a tar file, compressed or not, in one pass from its beginning to its end."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tarfile import HeaderError, ReadError
from typing import IO, BinaryIO, Self, cast

from anabranch.ingest.archives.decompression import unpacked
from anabranch.ingest.archives.member import Member
from anabranch.ingest.archives.unpack_limits import Allowance, TooMuchError

_BLOCK = 1 << 16
_LONGEST_HEADER = 1 << 20
"""Bytes between two members; `tarfile` reads a header at once, and its length is in the file."""


def tar_members(path: Path, allowance: Allowance, packing: str) -> Iterator[Member]:
    """Yield the files of a tar archive, and its links and devices with an objection.

    Args:
        path: The archive.
        allowance: What may still come out of it.
        packing: `gz`, `bz2`, `xz` or empty.

    Raises:
        tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError: It is damaged, or none.
        TooMuchError: It has too many members, or unpacks to too much.
    """
    with unpacked(path, packing) as file:
        metered = _Metered(file, allowance)
        with tarfile.open(fileobj=metered, mode="r|", bufsize=_BLOCK, tarinfo=_Strict) as archive:
            while (info := archive.next()) is not None:
                metered.expect(info.size)
                if info.isdir():
                    continue
                allowance.count()
                opened = cast("partial[IO[bytes]]", partial(archive.extractfile, info))
                yield Member(info.name, info.size, None, _objection(info), opened)


class _Metered(io.RawIOBase):
    """Counts what comes out of the compression, so that skipping a member costs no more than reading it."""

    def __init__(self, file: BinaryIO, allowance: Allowance) -> None:
        super().__init__()
        self._file = file
        self._allowance = allowance
        self._expected = _LONGEST_HEADER

    def expect(self, size: int) -> None:
        """Allow for the member that comes now, and the header behind it."""
        self._expected = size + _LONGEST_HEADER

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._allowance.spend(len(data))
        self._expected -= len(data)
        if self._expected < 0:
            raise TooMuchError("the description of a member is too long")
        return data


class _Strict(tarfile.TarInfo):
    """A header that says when it is damaged: `TarFile.next` takes that for the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile)
        except HeaderError as error:
            if type(error).__name__ == "EOFHeaderError":  # not in the type stubs: the proper end
                raise
            raise ReadError(f"a header is damaged or missing: {error}") from error


def _objection(info: tarfile.TarInfo) -> tuple[str, str] | None:
    return None if info.isreg() else ("refused", "It is a link or a device, not a file.")

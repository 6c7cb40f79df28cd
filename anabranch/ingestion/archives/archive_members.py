"""Read the members of ZIP and tar files, one at a time and within limits."""

from __future__ import annotations

import io
import os
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tarfile import HeaderError, ReadError
from typing import IO, Self, cast

from anabranch.ingestion.archives.decompression import Unpacked, WatchedFile, open_unpacked
from anabranch.ingestion.archives.unpack_limits import Allowance, TooMuchError

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST_NAME = 1000

# Flags of a ZIP member (APPNOTE.TXT 4.4.4).
_IS_ENCRYPTED = 0x1 | 0x40
_IS_UTF8 = 0x800
_LONGEST_DIRECTORY = 16 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Methods that `zipfile` unpacks piece by piece; with others, one block may unpack to gigabytes."""

_BLOCK = 1 << 16
_LONGEST_HEADER = 1 << 20
"""Most bytes between two members, because `tarfile` reads a header at once and trusts its length."""
_LINK = ("refused", "It is a link or a device, not a file.")


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive.

    Attributes:
        name: The name in the archive.
        size: Bytes as the archive declares them.
        packed: Bytes in the archive, None if members are not packed separately.
        objection: Why it cannot be read, as (reason, message); None if it can.
        open: Opens it for reading; in a tar only before the next member is requested.
    """

    name: str
    size: int
    packed: int | None
    objection: tuple[str, str] | None
    open: Callable[[], IO[bytes]]


def parts_of(name: str) -> tuple[str, ...] | None:
    """Return the folders and the name of a member; None for an invalid name or one that leads out of the archive.

    Both kinds of slash count, because a name on one system may lead out of the folder on another.
    """
    if len(name) > _LONGEST_NAME or _UNSEEN.search(name) or name.startswith(("/", "\\")) or _DRIVE.match(name):
        return None
    if ".." in re.split(r"[/\\]", name):
        return None
    return tuple(part for part in name.split("/") if part not in ("", ".")) or None


def is_hidden(parts: tuple[str, ...]) -> bool:
    """Tell whether a member is hidden, or added by macOS."""
    return parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)


def zip_members(path: Path, allowance: Allowance) -> Iterator[Member]:
    """Yield the files of a ZIP archive, and its links with an objection.

    Raises:
        zipfile.BadZipFile: It is damaged, or not a ZIP archive.
        TooMuchError: It has too many members, or takes too long.
    """
    with _LimitedReads(path, allowance.check) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            allowance.count()
            if info.is_dir():
                continue
            yield Member(
                _zip_name(info), info.file_size, info.compress_size, _zip_objection(info), partial(archive.open, info)
            )


class _LimitedReads(WatchedFile):
    """A file that refuses huge reads, because `zipfile` reads the list of members at once, whatever its size."""

    def __init__(self, path: Path, check: Callable[[], object]) -> None:
        super().__init__(path, check)
        self._size = os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        left = self._size - self.tell()
        if min(left, left if size is None or size < 0 else size) > _LONGEST_DIRECTORY:
            raise TooMuchError("its list of members is too long")
        return super().read(size)


def _zip_objection(info: zipfile.ZipInfo) -> tuple[str, str] | None:
    mode = info.external_attr >> 16
    # Zero if the archive comes from a system without such modes.
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return _LINK
    if info.flag_bits & _IS_ENCRYPTED:
        return "encrypted", "It is protected by a password."
    if info.compress_type not in _METHODS:
        return "unsupported", f"Its compression method {info.compress_type} is not supported."
    return None


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member, which may be UTF-8 even if the archive does not say so."""
    name = info.orig_filename
    if info.flag_bits & _IS_UTF8:
        return name
    try:
        # `zipfile` has decoded it as code page 437, as the format requires, but most programs write UTF-8.
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def tar_members(path: Path, allowance: Allowance, packing: str) -> Iterator[Member]:
    """Yield the files of a tar archive, and its links and devices with an objection.

    Args:
        path: The archive.
        allowance: The limits of unpacking.
        packing: `gz`, `bz2`, `xz` or empty.

    Raises:
        tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError: It is damaged, or not a tar archive.
        TooMuchError: It has too many members, unpacks to too much, or for too long.
    """
    # The stream is opened here, because `tarfile` would unpack it without counting the bytes.
    with open_unpacked(path, packing, allowance.check) as file:
        metered = _Metered(file, allowance)
        with tarfile.open(fileobj=metered, mode="r|", bufsize=_BLOCK, tarinfo=_StrictHeader) as archive:
            while (info := archive.next()) is not None:
                # `tarfile` reads the data between two members (names, extended headers) in one piece.
                metered.expect(info.size)
                # Folders count, too: `tarfile` keeps every header, and a small file unpacks to millions.
                allowance.count()
                if info.isdir():
                    continue
                opened = cast("partial[IO[bytes]]", partial(archive.extractfile, info))
                yield Member(info.name, info.size, None, None if info.isreg() else _LINK, opened)


class _Metered(io.RawIOBase):
    """Counts the unpacked bytes, also those of skipped members."""

    def __init__(self, file: Unpacked, allowance: Allowance) -> None:
        super().__init__()
        self._file = file
        self._allowance = allowance
        self._expected = _LONGEST_HEADER

    def expect(self, size: int) -> None:
        """Allow for the next member and the header after it."""
        self._expected = size + _LONGEST_HEADER

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read1(size)
        self._allowance.spend(len(data))
        self._expected -= len(data)
        if self._expected < 0:
            raise TooMuchError("the description of a member is too long")
        return data


class _StrictHeader(tarfile.TarInfo):
    """A header that says when it is damaged: `TarFile.next` takes that for the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile)
        except HeaderError as error:
            if type(error).__name__ == "EOFHeaderError":  # not in the type stubs: the proper end
                raise
            raise ReadError(f"a header is damaged or missing: {error}") from error

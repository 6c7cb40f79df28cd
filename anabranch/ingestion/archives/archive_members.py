"""The members of ZIP and tar files, one at a time and within bounds."""

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

from anabranch.ingestion.archives.decompression import Unpacked, WatchedFile, unpacked
from anabranch.ingestion.archives.unpack_limits import Allowance, TooMuchError

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST_NAME = 1000

# Flags of a ZIP member (APPNOTE.TXT 4.4.4).
_IS_ENCRYPTED = 0x1 | 0x40
_IS_UTF8 = 0x800
_LONGEST_DIRECTORY = 16 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that `zipfile` unpacks piece by piece; a single block of the others unpacks to gigabytes at once."""

_BLOCK = 1 << 16
_LONGEST_HEADER = 1 << 20
"""Bytes between two members; `tarfile` reads a header at once, and its length is in the file."""
_LINK = ("refused", "It is a link or a device, not a file.")


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive.

    Attributes:
        name: As the archive has it.
        size: Bytes by its own account.
        packed: Bytes in the archive, None where they are not apart.
        objection: Why it cannot be taken in, as (reason, message); empty if it can.
        open: Opens it for reading; of a tar only until the next member is asked for.
    """

    name: str
    size: int
    packed: int | None
    objection: tuple[str, str] | None
    open: Callable[[], IO[bytes]]


def parts_of(name: str) -> tuple[str, ...] | None:
    """Return the folders and the name of a member; None for a name that leads out of the archive, or is none.

    Both kinds of slash count: what is a name on one system leads out of the folder on another.
    """
    if len(name) > _LONGEST_NAME or _UNSEEN.search(name) or name.startswith(("/", "\\")) or _DRIVE.match(name):
        return None
    if ".." in re.split(r"[/\\]", name):
        return None
    return tuple(part for part in name.split("/") if part not in ("", ".")) or None


def is_hidden(parts: tuple[str, ...]) -> bool:
    """Tell whether it is left out without a word, as hidden files of a folder are; also what macOS adds."""
    return parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)


def zip_members(path: Path, allowance: Allowance) -> Iterator[Member]:
    """Yield the files of a ZIP archive, and its links with an objection.

    Raises:
        zipfile.BadZipFile: It is damaged, or none.
        TooMuchError: It has too many members, or takes too long.
    """
    with _Careful(path, allowance.check) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            allowance.count()
            if info.is_dir():
                continue
            yield Member(
                _zip_name(info), info.file_size, info.compress_size, _zip_objection(info), partial(archive.open, info)
            )


class _Careful(WatchedFile):
    """A file that refuses to be read in huge pieces: `zipfile` reads the list of members at once, whatever its size."""

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
    # Zero where the archive was made on a system without such modes.
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return _LINK
    if info.flag_bits & _IS_ENCRYPTED:
        return "encrypted", "It is protected by a password."
    if info.compress_type not in _METHODS:
        return "unsupported", f"It is packed by method {info.compress_type}, which is not unpacked here."
    return None


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member; where the archive does not say that it is UTF-8, it may be all the same."""
    name = info.orig_filename
    if info.flag_bits & _IS_UTF8:
        return name
    try:
        # `zipfile` has decoded it as code page 437, as the format says; most programs write UTF-8 without saying so.
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def tar_members(path: Path, allowance: Allowance, packing: str) -> Iterator[Member]:
    """Yield the files of a tar archive, and its links and devices with an objection.

    Args:
        path: The archive.
        allowance: What may still come out of it.
        packing: `gz`, `bz2`, `xz` or empty.

    Raises:
        tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError: It is damaged, or none.
        TooMuchError: It has too many members, unpacks to too much, or for too long.
    """
    # The stream is opened here and not by `tarfile`, which would unpack it where nobody counts the bytes.
    with unpacked(path, packing, allowance.check) as file:
        metered = _Metered(file, allowance)
        with tarfile.open(fileobj=metered, mode="r|", bufsize=_BLOCK, tarinfo=_StrictHeader) as archive:
            while (info := archive.next()) is not None:
                # What comes between two members (names, extended headers) is read by `tarfile` in one piece.
                metered.expect(info.size)
                # Folders, too: `tarfile` keeps every header, of which a small file unpacks to millions.
                allowance.count()
                if info.isdir():
                    continue
                opened = cast("partial[IO[bytes]]", partial(archive.extractfile, info))
                yield Member(info.name, info.size, None, None if info.isreg() else _LINK, opened)


class _Metered(io.RawIOBase):
    """Counts what comes out of the compression, so that skipping a member costs no more than reading it."""

    def __init__(self, file: Unpacked, allowance: Allowance) -> None:
        super().__init__()
        self._file = file
        self._allowance = allowance
        self._expected = _LONGEST_HEADER

    def expect(self, size: int) -> None:
        """Allow for the member that comes now, and the header behind it."""
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

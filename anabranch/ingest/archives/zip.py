"""Members of a ZIP file."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from anabranch.ingest.archives.member import Member
from anabranch.ingest.archives.unpack_limits import Allowance, TooMuchError

_IS_ENCRYPTED = 0x1 | 0x40
_IS_UTF8 = 0x800
_LONGEST_DIRECTORY = 16 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that `zipfile` unpacks piece by piece; a single block of the others unpacks to gigabytes at once."""


def zip_members(path: Path, allowance: Allowance) -> Iterator[Member]:
    """Yield the files of a ZIP archive, and its links with an objection.

    Raises:
        zipfile.BadZipFile: It is damaged, or none.
        TooMuchError: It has too many members.
    """
    with _Careful(path) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            allowance.count()
            yield Member(_name(info), info.file_size, info.compress_size, _objection(info), partial(archive.open, info))


class _Careful(io.FileIO):
    """A file that refuses to be read in huge pieces: `zipfile` reads the list of members at once, whatever its size."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._size = os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        left = self._size - self.tell()
        if min(left, left if size is None or size < 0 else size) > _LONGEST_DIRECTORY:
            raise TooMuchError("its list of members is too long")
        return super().read(size) or b""


def _objection(info: zipfile.ZipInfo) -> tuple[str, str] | None:
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "refused", "It is a link or a device, not a file."
    if info.flag_bits & _IS_ENCRYPTED:
        return "encrypted", "It is protected by a password."
    if info.compress_type not in _METHODS:
        return "unsupported", f"It is packed by method {info.compress_type}, which is not unpacked here."
    return None


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member; where the archive does not say that it is UTF-8, it may be all the same."""
    name = info.orig_filename
    if info.flag_bits & _IS_UTF8:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name

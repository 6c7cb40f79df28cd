"""Open the zip archive that an office file or a book is: what it unpacks to is bounded, and its XML is inert.

Python's zipfile gives out no more bytes of an entry than its header declares, so that the declared sizes bound the
real ones.
"""

from __future__ import annotations

import errno
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.errors import ReadingError
from anabranch.readers.inert_xml import Element, parse_xml
from anabranch.readers.office_password import MOST_UNPACKED, is_compound, password_error

MOST_PARSED = 1 << 27  # a tree takes several times the memory of its XML

_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
# Others are legal in ZIP, but no program packs such a file so (ECMA-376 part 2 allows DEFLATE alone).
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})

COPY_HINT = "Save a copy without a password."
"""What to do with a file of a kind that no password opens here."""


@dataclass(frozen=True, slots=True)
class ZipFormat:
    """What people call a format.

    Attributes:
        name: As in "is no ...".
        old: Its predecessor that is no archive, as in "is in ...", and empty where there was none.
        extension: What to save such a file as.
    """

    name: str
    old: str = ""
    extension: str = ""


class Archive:
    """An open archive; what is taken out of it to be held in memory is counted."""

    def __init__(self, file: zipfile.ZipFile, source: str) -> None:
        """Take over an open file."""
        self._file = file
        self._source = source
        self._taken = 0
        self.names = frozenset(file.namelist())

    def read(self, name: str, most: int = MOST_PARSED) -> bytes:
        """Return one entry whole.

        Raises:
            ReadingError: `broken` when it is missing, `too_large` when it has more than `most` bytes, or when all that
                was read by now is too much.
        """
        if name not in self.names:
            raise ReadingError(f"{self._source!r} lacks its part {name!r}.", reason="broken", hint="Save it again.")
        # Of all that was read by now: a thousand parts of a megabyte fill the memory like one of a gigabyte.
        self._taken += self.size(name)
        if self._taken > MOST_PARSED or self.size(name) > most:
            msg = f"{self._source!r} holds more text than can be read at once ({name!r})."
            raise ReadingError(msg, reason="too_large", hint="Split it.")
        with _damage_as_error(self._source):
            return self._file.read(name)

    def xml(self, name: str) -> Element:
        """Return the root of one entry that is XML."""
        return parse_xml(self.read(name))

    def size(self, name: str) -> int:
        """Return how many bytes one entry has, unpacked."""
        return self._file.getinfo(name).file_size

    def stream(self, name: str) -> IO[bytes]:
        """Return one entry to read from piece by piece; the caller closes it."""
        with _damage_as_error(self._source):
            return self._file.open(name)


@contextmanager
def open_archive(path: Path, source: str, kind: ZipFormat) -> Iterator[Archive]:
    """Open an archive that has been checked; see `check`."""
    check(path, source, kind)
    with zipfile.ZipFile(path) as file:
        yield Archive(file, source)


def check(path: Path, source: str, kind: ZipFormat) -> None:
    """Make sure that a file is an archive that can be unpacked within limits.

    Raises:
        ReadingError: `encrypted`, `unsupported` (the format's predecessor), `broken`, `too_large`.
    """
    if kind.old and is_compound(path):
        raise _predecessor(path, source, kind)
    if not zipfile.is_zipfile(path):
        msg = f"{source!r} is damaged or is no {kind.name}."
        raise ReadingError(msg, reason="broken", hint="Save it again, or check its extension.")
    with _damage_as_error(source), zipfile.ZipFile(path) as file:
        entries = file.infolist()
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MOST_UNPACKED:
        raise ReadingError(f"{source!r} unpacks to {unpacked} bytes, over {MOST_UNPACKED}.", reason="too_large")
    if any(entry.flag_bits & 1 for entry in entries):
        raise password_error(source, hint=COPY_HINT)
    if any(entry.compress_type not in _METHODS for entry in entries):
        raise ReadingError(f"{source!r} is packed as no {kind.name} is.", reason="broken", hint="Save it again.")


@contextmanager
def _damage_as_error(source: str) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # that one: a place before the file's beginning
            raise
        raise ReadingError(f"{source!r} is damaged: {error}.", reason="broken", hint="Save it again.") from error


def _predecessor(path: Path, source: str, kind: ZipFormat) -> ReadingError:
    # An encrypted office file and one of the old format are both compound files; a stream's name tells them apart.
    if _ENCRYPTED in path.read_bytes():
        return password_error(source)
    msg = f"{source!r} is in {kind.old}."
    return ReadingError(msg, reason="unsupported", hint=f"Save it as {kind.extension}.")


def elements(stream: IO[bytes], *tags: str) -> Iterator[Element]:
    """Yield the elements of those local names as a stream of XML closes them; each is emptied after its turn."""
    safe = {"resolve_entities": False, "no_network": True, "load_dtd": False}
    wanted = [f"{{*}}{tag}" for tag in tags]
    for _, element in etree.iterparse(stream, tag=wanted, remove_comments=True, remove_pis=True, **safe):
        yield element
        element.clear(keep_tail=False)
        # Emptied elements still stand in their parent: of a million rows there would be a million.
        while element.getprevious() is not None:
            del element.getparent()[0]


def attribute(element: Element, name: str, default: str = "") -> str:
    """Return the attribute of that local name that is in a namespace, whichever it is."""
    return next((str(value) for key, value in element.items() if key.endswith(f"}}{name}")), default)

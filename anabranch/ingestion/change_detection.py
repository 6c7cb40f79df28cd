"""Find the files that must be read: new ones, and those that may have changed.

A file's stamp (size, times, inode) costs one look. It is trusted only if no change can have left it the same: a file
that was written just before it was read could be written again within the same tick of the file system's clock. Git
calls such a file racy and compares its content, and so do we. In doubt there is no stamp, which costs a hash.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.ingestion import safe_open
from anabranch.ingestion.access_inheritance import Inheritance
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.ingestion.directory_walk import FoundFile, identity_of
from anabranch.readers import READERS, extension_of
from anabranch.readers.faults import refuse_faults
from anabranch.store.writer_protocol import CorpusWriter, FileRecord
from anabranch.text.normalization import storable

_SECOND = 1_000_000_000
_MARGIN = 3_600 * _SECOND
"""Age from which a stamp is trusted. The coarsest file system clock (FAT) ticks every two seconds, but a server's clock
may be minutes off ours."""


@dataclass(slots=True)
class Arrival:
    """A file that must be read.

    Attributes:
        number: Its position in the run.
        found: Where it lies.
        record: The record to store once its documents are committed.
        seen: Its stamp before it was read; for a copy, the version of the original, or nothing.
        size: Its bytes.
        held: Number of its documents in the corpus before; None if the file was unknown.
        notes: Remarks on the file and its documents, each once.
        changed: Number of its documents that are new or different.
        failures: Number of its parts that could not be read.
        is_refused: Whether a document that is the whole file could not be used.
    """

    number: int
    found: FoundFile
    record: FileRecord
    seen: str
    size: int
    held: int | None
    notes: dict[str, None] = field(default_factory=dict)
    changed: int = 0
    failures: int = 0
    is_refused: bool = False

    @property
    def path(self) -> Path:
        """Where it was found."""
        return self.found.path

    @property
    def real(self) -> Path | None:
        """The resolved path; None for a copy."""
        return self.found.real

    @property
    def source(self) -> str:
        """The name that a person sees."""
        return self.record.source

    def has_changed(self) -> bool:
        """Tell whether the file changed since its stamp was taken."""
        if self.found.is_copy:
            return False
        try:
            return stamp_of(self.found.place) != self.seen
        except OSError:
            return True


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file whose current content is in the corpus.

    Attributes:
        record: Its record, with the current stamp.
        is_refreshed: Whether the stamp is new.
        documents: Number of its documents.
        chunks: Number of their chunks.
    """

    record: FileRecord
    is_refreshed: bool
    documents: int
    chunks: int


class ChangeCheck:
    """Checks each file before it is read."""

    def __init__(
        self,
        writer: CorpusWriter,
        access: Sequence[str],
        *,
        rights: AccessRights = OPERATOR,
        inherits: bool = True,
        fetches: bool = True,
    ) -> None:
        """Take the corpus and the options of this run.

        Args:
            writer: The corpus.
            access: The tags given with this run.
            rights: The rights of the user.
            inherits: Whether a new file may inherit tags.
            fetches: Whether objects are copied here; if not, another version counts as a change.
        """
        self._rights = rights
        self._writer = writer
        self._inheritance = Inheritance(writer) if inherits else None
        self._access = tuple(sorted(set(access)))
        self._fetches = fetches

    def look(self, number: int, found: FoundFile, folders: Collection[Path] = ()) -> Arrival | Unchanged:
        """Check whether a file must be read.

        Raises:
            OSError: It cannot be examined.
            ReadingError: The user may not change it.
        """
        identity = identity_of(found)
        known = self._writer.file(identity)
        # A run that names no tags must not make public what an earlier one protected.
        access = self._access or (known.access if known else ())
        self._rights.require(access, known.access if known else ())
        notes: dict[str, None] = {}
        # With an empty hash, it must be read again in any case.
        previous = known if known is not None and known.sha256 and known.access == access else None
        seen = found.version if found.is_copy else stamp_of(found.place)
        # So far the file was not opened.
        if previous is not None and seen and previous.stamp == seen and (same := self._unchanged(previous, previous)):
            return same
        if found.fetch is not None and not self._fetches:
            unread = FileRecord(identity, storable(found.source), "", access)
            return Arrival(number, found, unread, "", 0, count_documents(self._writer, known))
        if found.fetch is not None:
            with refuse_faults(found.source, "fetched"):
                seen = found.fetch()
        digest, stamp = self._hash_and_stamp(found, seen)
        if previous is not None and previous.sha256 == digest:
            refreshed = previous._replace(stamp=stamp)
            if same := self._unchanged(previous, refreshed):
                return same
        # A known file keeps its tags; only a new one may inherit.
        if self._inheritance is not None and known is None and not access:
            access, note = self._inheritance.inherit_tags(found, identity, digest, folders)
            self._rights.require(access)
            if not access and self._rights.of_new:
                access, note = self._rights.of_new, ""
            notes = {note: None} if note else {}
        record = FileRecord(identity, storable(found.source), digest, access, stamp=stamp)
        return Arrival(
            number, found, record, seen, found.place.stat().st_size, count_documents(self._writer, known), notes
        )

    def _hash_and_stamp(self, found: FoundFile, stamp_before: str) -> tuple[str, str]:
        """Return the hash of a file, and its stamp if that can be trusted later."""
        # A file that no reader takes is not hashed.
        if found.place.is_dir() or extension_of(found.path) not in READERS:
            return "", ""
        stamp = stamp_before if found.is_copy else lasting_stamp(found.place)
        return sha256_of(found.path, found.real), stamp if stamp == stamp_before else ""

    def _unchanged(self, known: FileRecord, now: FileRecord) -> Unchanged | None:
        # A file without documents is read again: it was empty, or its documents were removed and are wanted again.
        documents, chunks = self._writer.counts(known.path)
        return Unchanged(now, now != known, documents, chunks) if documents else None


def count_documents(writer: CorpusWriter, known: FileRecord | None) -> int | None:
    """Return the number of documents of a file in the corpus; None if it does not know the file."""
    return None if known is None else writer.counts(known.path)[0]


def stamp_of(path: Path) -> str:
    """Return size, times of change and inode of a file.

    Raises:
        OSError: It cannot be examined.
    """
    return _stamp(path.stat())


def lasting_stamp(path: Path) -> str:
    """Return the stamp of a file that is about to be read; empty if a change could leave it the same.

    Raises:
        OSError: The file cannot be examined.
    """
    status = path.stat()
    is_old = max(status.st_mtime_ns, status.st_ctime_ns) < time.time_ns() - _MARGIN
    return _stamp(status) if is_old and _has_change_time(status) else ""


def sha256_of(path: Path, real: Path | None = None) -> str:
    """Return the hash of a file's bytes, in hexadecimal.

    Args:
        path: The file.
        real: Its resolved path when it was found.

    Raises:
        OSError: It cannot be read, or a link was put in its place.
    """
    with path.open("rb") if real is None else os.fdopen(safe_open.open_real(real), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def _has_change_time(status: os.stat_result) -> bool:
    """Tell whether `st_ctime` is a real time of change, which programs cannot set back.

    On Windows it is the time of creation; file systems with whole seconds (FAT, some network shares) make it up.
    """
    return os.name == "posix" and status.st_ctime_ns % _SECOND != 0

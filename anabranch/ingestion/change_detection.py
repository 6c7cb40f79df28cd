"""Tells which files have to be read: those that are new, or of which nothing proves that they are as they were.

What the file system says of a file is evidence for the price of one look. Such a stamp is trusted only where a change
cannot have left it as it was. A file that was written to a moment before it was read could be written to again within
the same tick of the file system's clock; Git calls that racy and looks at the content, and so do we. In doubt there is
no stamp, which costs a hash.
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
from anabranch.readers import READERS
from anabranch.store.writer_protocol import CorpusWriter, FileRecord
from anabranch.text.normalization import storable

_SECOND = 1_000_000_000
_MARGIN = 3_600 * _SECOND
"""Since the last change. The coarsest clock of a file system in use (FAT) ticks every two seconds, but a server's clock
may be minutes off ours; what was changed within the hour is hashed, which costs little."""


@dataclass(slots=True)
class Arrival:
    """A file that has to be read.

    Attributes:
        number: Its place in the run.
        found: Where it lies.
        record: What is known of it once its documents are committed.
        seen: Its stamp before it was read; of a copy, the version of what it is one of, or nothing.
        size: Its bytes.
        held: How many of its documents the corpus held; None where it was not known.
        notes: What was told of it and its documents, each once.
        changed: How many of its documents are new or different.
        failures: How many of its parts could not be read.
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

    @property
    def path(self) -> Path:
        """Where it was found."""
        return self.found.path

    @property
    def real(self) -> Path | None:
        """Where that led to; None for a copy."""
        return self.found.real

    @property
    def source(self) -> str:
        """What a person calls it."""
        return self.record.source

    def has_changed(self) -> bool:
        """Tell whether somebody wrote to it since it was looked at."""
        if self.found.is_copy:
            return False
        try:
            return stamp_of(self.found.place) != self.seen
        except OSError:
            return True


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file that the corpus holds as it is.

    Attributes:
        record: What is known of it, with what the file system says now.
        is_refreshed: Whether that is news.
        documents: How many it holds.
        chunks: In how many chunks.
    """

    record: FileRecord
    is_refreshed: bool
    documents: int
    chunks: int


class ChangeCheck:
    """Looks at each file before it is read."""

    def __init__(
        self,
        writer: CorpusWriter,
        access: Sequence[str],
        *,
        rights: AccessRights = OPERATOR,
        inherits: bool = True,
        fetches: bool = True,
    ) -> None:
        """Take what is known, and what holds for this run.

        Args:
            writer: The corpus.
            access: The tags given with this run.
            rights: What whoever runs it may do.
            inherits: Whether a new file may inherit tags.
            fetches: Whether objects are copied here; where not, one of another version is taken for another.
        """
        self._rights = rights
        self._writer = writer
        self._inheritance = Inheritance(writer) if inherits else None
        self._access = tuple(sorted(set(access)))
        self._fetches = fetches

    def look(self, number: int, found: FoundFile, folders: Collection[Path] = ()) -> Arrival | Unchanged:
        """Say whether a file has to be read.

        Raises:
            OSError: It cannot be looked at.
            ReadingError: It is not theirs to change.
        """
        identity = identity_of(found)
        known = self._writer.file(identity)
        # A run that names no tags must not make public what an earlier one protected.
        access = self._access or (known.access if known else ())
        self._rights.require(access, known.access if known else ())
        notes: dict[str, None] = {}
        # An empty hash: it has to be read again, whatever its bytes.
        kept = known if known is not None and known.sha256 and known.access == access else None
        seen = found.version if found.is_copy else stamp_of(found.place)
        # The price of one look. Everything below opens the file.
        if kept is not None and seen and kept.stamp == seen and (same := self._unchanged(kept, kept)):
            return same
        if found.fetch is not None and not self._fetches:
            unread = FileRecord(identity, storable(found.source), "", access)
            return Arrival(number, found, unread, "", 0, held_of(self._writer, known))
        if found.fetch is not None:
            seen = found.fetch()
        digest, stamp = self._evidence(found, seen)
        if kept is not None and kept.sha256 == digest and (same := self._unchanged(kept, kept._replace(stamp=stamp))):
            return same
        # A known file keeps its tags; only a new one may inherit.
        if self._inheritance is not None and known is None and not access:
            access, note = self._inheritance.of(found, identity, digest, folders)
            self._rights.require(access)
            if not access and self._rights.of_new:
                access, note = self._rights.of_new, ""
            notes = {note: None} if note else {}
        record = FileRecord(identity, storable(found.source), digest, access, stamp=stamp)
        return Arrival(number, found, record, seen, found.place.stat().st_size, held_of(self._writer, known), notes)

    def _evidence(self, found: FoundFile, seen: str) -> tuple[str, str]:
        """Return the hash of a file, and its stamp if that will tell a change."""
        # Nobody reads a film to learn that it is one.
        if found.place.is_dir() or found.path.suffix.lower() not in READERS:
            return "", ""
        stamp = seen if found.is_copy else lasting_stamp(found.place)
        return sha256_of(found.path, found.real), stamp if stamp == seen else ""

    def _unchanged(self, known: FileRecord, now: FileRecord) -> Unchanged | None:
        # A file without documents is read again each time: it was empty, or somebody removed them and wants them back.
        documents, chunks = self._writer.counts(known.path)
        return Unchanged(now, now != known, documents, chunks) if documents else None


def held_of(writer: CorpusWriter, known: FileRecord | None) -> int | None:
    """Return how many documents of a file the corpus holds; None where it does not know the file."""
    return None if known is None else writer.counts(known.path)[0]


def stamp_of(path: Path) -> str:
    """Return size, times of change and inode of a file.

    Raises:
        OSError: It cannot be looked at.
    """
    return _stamp(path.stat())


def lasting_stamp(path: Path) -> str:
    """Return the stamp of a file that is about to be read, empty if it could outlive a change.

    Raises:
        OSError: The file cannot be looked at.
    """
    seen = path.stat()
    is_settled = max(seen.st_mtime_ns, seen.st_ctime_ns) < time.time_ns() - _MARGIN
    return _stamp(seen) if is_settled and _tells_changes(seen) else ""


def sha256_of(path: Path, real: Path | None = None) -> str:
    """Return the hash of a file's bytes, in hexadecimal.

    Args:
        path: The file.
        real: Where it lay when it was found, behind all links.

    Raises:
        OSError: It cannot be read, or a link was put in its place.
    """
    with path.open("rb") if real is None else os.fdopen(safe_open.open_real(real), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(seen: os.stat_result) -> str:
    return f"{seen.st_size}:{seen.st_mtime_ns}:{seen.st_ctime_ns}:{seen.st_ino}"


def _tells_changes(seen: os.stat_result) -> bool:
    """Tell whether the time of change is one: it is what programs that set other times back cannot set.

    On Windows it is the time of birth; file systems of whole seconds (FAT, some network shares) make it up.
    """
    return os.name == "posix" and seen.st_ctime_ns % _SECOND != 0

"""Makes a corpus as small as it can be: one segment, no vector that nobody needs, no free page in the database."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_folder import CorpusProgress, must_exist, silent, size_of
from anabranch.store.index import publisher as publishing
from anabranch.store.write_lock import writing


@dataclass(frozen=True, slots=True)
class Compacted:
    """What it came to.

    Attributes:
        before: Bytes of the corpus before.
        after: Bytes after.
        unfinished: Why free pages are still in the database, or old pages in its log; empty if none are.
    """

    before: int
    after: int
    unfinished: str = ""


def compact(corpus: StrPath, *, wait: float = 0.0, progress: CorpusProgress = silent) -> Compacted:
    """Bring the index up to date, merge it into one segment, and give free room back to the disk.

    Nothing that was removed is in any file of the corpus afterwards. Vectors that no passage has any more, kept in case
    their text comes back, go as well.

    Args:
        corpus: The corpus.
        wait: Seconds to wait for another writer.
        progress: Told how far it is.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusLockedError: Another process is writing.
        CorpusDamagedError: A passage has no vector, or the database is damaged.
    """
    folder = must_exist(corpus)
    before = size_of(folder)
    with writing(folder, wait=wait), closing(CorpusDatabase(folder)) as database:
        publishing.publish(database, progress=partial(progress, "index"))
        progress("merge", 0, 0)
        publishing.compact(database)
        progress("database", 0, 0)
        database.forget_unused(everything=True)
        unfinished = _vacuumed(folder, database)
    return Compacted(before, size_of(folder), unfinished)


def _vacuumed(folder: Path, database: CorpusDatabase) -> str:
    """Give the free pages of the database back; return why that could not be done, if so."""
    connection = database.connection
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    if why := _lack_of_room(folder, (pages - free) * size):
        return why
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:  # another program has filled the disk meanwhile
        return f"the database was left as it is: {error}"
    if database.empty_log():
        return ""
    return "somebody is reading, so old pages stay in the log of the database until the next run"


def _lack_of_room(folder: Path, needed: int) -> str:
    """Tell where room for a copy is missing: SQLite writes one as a temporary file, and one into its log."""
    needs: dict[int, tuple[Path, int]] = {}
    for place in (folder, _temporary()):
        device = place.stat().st_dev
        needs[device] = (place, needs.get(device, (place, 0))[1] + needed)
    for place, most in needs.values():
        free = shutil.disk_usage(place).free
        if free < most:
            return f"{place} has {free:,} bytes free, and giving room back takes {most:,}"
    return ""


def _temporary() -> Path:
    """Return the folder that SQLite takes for temporary files (https://www.sqlite.org/tempfiles.html)."""
    named = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    for place in (*named, "/var/tmp", "/usr/tmp", "/tmp"):  # noqa: S108  # looked at, not written to
        if os.name == "posix" and place and os.access(place, os.W_OK | os.X_OK) and Path(place).is_dir():
            return Path(place)
    return Path(tempfile.gettempdir())

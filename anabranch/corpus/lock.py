"""One writer at a time: a lock file, and a name for whoever holds it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from anabranch.errors import CorpusLockedError, SettingsError


@contextmanager
def writing(folder: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the corpus's write lock; the operating system frees it when the process ends, however it ends.

    Args:
        folder: The corpus.
        wait: Seconds to wait for another writer.

    Raises:
        CorpusLockedError: Another process is writing.
        SettingsError: The folder cannot be written to.
    """
    lock = FileLock(folder / "write.lock", timeout=wait)
    holder = folder / "writer"
    try:
        lock.acquire()
    except Timeout as error:
        msg = f"The corpus at {folder} is being written to by {_name_in(holder)}."
        raise CorpusLockedError(msg, hint="Wait until it has ended, then try again.") from error
    except OSError as error:
        msg = f"The corpus at {folder} cannot be written to: {error.strerror or error}."
        raise SettingsError(msg, hint="Check the permissions of the folder.") from error
    try:
        holder.write_text(f"process {os.getpid()}", encoding="ascii")
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def _name_in(holder: Path) -> str:
    try:
        return holder.read_text(encoding="ascii") or "another process"
    except OSError:
        return "another process"

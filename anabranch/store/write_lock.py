"""One writer at a time: a lock file with the name of its holder."""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path

from filelock import FileLock, Timeout

from anabranch.errors import CorpusLockedError, SettingsError
from anabranch.store.corpus_folder import explain_failures
from anabranch.text.normalization import squeeze

POLL = 0.2
"""Seconds between two looks at a lock that another process holds."""

_log = logging.getLogger(__name__)

_WORD = re.compile(r"[a-z]+")


@contextmanager
def hold_write_lock(folder: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the corpus's write lock; the operating system frees it when the process ends, however it ends.

    Errors of SQLite and the disk meanwhile become errors that say what to do.

    Args:
        folder: The corpus.
        wait: Seconds to wait for another writer, whose name is logged.

    Raises:
        CorpusLockedError: Another process is writing, and still is after `wait` seconds.
        SettingsError: The folder cannot be written to.
        OperationError: The disk is full, or fails.
        CorpusDamagedError: The database is damaged.
    """
    lock = FileLock(folder / "write.lock")
    name = folder / "writer"
    try:
        _acquire(lock, folder, wait)
    except OSError as error:
        msg = f"The corpus at {folder} cannot be written to: {error.strerror or error}."
        raise SettingsError(msg, hint="Check the permissions of the folder.") from error
    try:
        with suppress(OSError):  # a courtesy that needs disk space
            name.write_text(_own_name(), encoding="utf-8")
        with explain_failures(folder):
            yield
    finally:
        with suppress(OSError):
            name.unlink()
        lock.release()


def _acquire(lock: FileLock, folder: Path, wait: float) -> None:
    with suppress(Timeout):
        # Try without waiting first, so that only those who wait get the message.
        lock.acquire(timeout=0)
        return
    who = _holder(folder)
    if wait > 0:
        _log.warning("The corpus at %s is being written to by %s. Waiting for %.0f seconds at most.", folder, who, wait)
        with suppress(Timeout):
            lock.acquire(timeout=wait, poll_interval=POLL)
            return
        who = _holder(folder)
    msg = f"The corpus at {folder} is being written to by {who}."
    raise CorpusLockedError(msg, hint="Try again when it has finished.")


def _holder(folder: Path) -> str:
    """Return the name of the lock's holder; it has overwritten the name of a killed one."""
    try:
        return squeeze((folder / "writer").read_text(encoding="utf-8"))[:200] or "another process"
    except (OSError, ValueError):
        return "another process"


def _own_name() -> str:
    program = Path(sys.argv[0]).name if sys.argv else ""
    # Omit options and paths: they may hold passwords, and others may read the folder.
    words = takewhile(_WORD.fullmatch, sys.argv[1:])
    command = " ".join([program if program not in ("", "-c") else "python", *words])
    return f"process {os.getpid()} on {socket.gethostname()} ({command}), since {time.strftime('%Y-%m-%d %H:%M:%S')}"

"""One writer at a time: a lock file, and a name for whoever holds it."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path

from filelock import FileLock, Timeout

from anabranch.errors import CorpusLockedError, SettingsError
from anabranch.store.corpus_folder import explained

POLL = 0.2
"""Seconds between two looks at a lock that another process holds."""

_log = logging.getLogger(__name__)

_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes to a corpus.

    Attributes:
        pid: Number of the process.
        host: Name of its machine: a folder on a network may be written to from several.
        command: What it does; without the arguments, which may hold passwords.
        since: When it began, in the local time of that machine.
    """

    pid: int
    host: str
    command: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} ({self.command}), since {self.since}"


@contextmanager
def writing(folder: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the corpus's write lock; the operating system frees it when the process ends, however it ends.

    What SQLite and the disk raise in the meantime becomes an error that says what to do.

    Args:
        folder: The corpus.
        wait: Seconds to wait for another writer; who that is, is said in the log.

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
        with suppress(OSError):  # a courtesy, which needs room on the disk
            name.write_text(json.dumps(asdict(_own())), encoding="utf-8")
        with explained(folder):
            yield
    finally:
        with suppress(OSError):
            name.unlink()
        lock.release()


def _acquire(lock: FileLock, folder: Path, wait: float) -> None:
    with suppress(Timeout):
        lock.acquire(timeout=0)
        return
    who = holder(folder) or "another process"
    if wait > 0:
        _log.warning("The corpus at %s is being written to by %s. Waiting for %.0f seconds at most.", folder, who, wait)
        with suppress(Timeout):
            lock.acquire(timeout=wait, poll_interval=POLL)
            return
        who = holder(folder) or "another process"
    msg = f"The corpus at {folder} is being written to by {who}."
    raise CorpusLockedError(msg, hint="Try again when it has ended.")


def holder(folder: Path) -> Holder | None:
    """Return who writes to a corpus, as far as can be told without taking the lock; None for nobody.

    A name that a killed process of this machine has left behind counts for nothing.
    """
    try:
        found = Holder(**json.loads((folder / "writer").read_text(encoding="utf-8")))
        return found if found.host != socket.gethostname() or _is_alive(found.pid) else None
    except (OSError, ValueError, TypeError):
        return None


def _own() -> Holder:
    program = Path(sys.argv[0]).name if sys.argv else ""
    words = takewhile(_WORD.fullmatch, sys.argv[1:])
    command = " ".join([program if program not in ("", "-c") else "python", *words])
    return Holder(os.getpid(), socket.gethostname(), command, time.strftime("%Y-%m-%d %H:%M:%S"))


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return True  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

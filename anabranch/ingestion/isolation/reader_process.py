"""The parent's side of one reading process: start it, give it orders, hear it, end it, and say what it died of."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from anabranch.errors import OperationError, ReadingError
from anabranch.ingestion.isolation.process_limits import too_much_memory
from anabranch.ingestion.isolation.worker_protocol import (
    Frame,
    Setup,
    Tag,
    of_order,
    of_setup,
    receive,
    receive_body,
    receive_head,
    send,
)

COMMAND = (sys.executable, "-P", "-m", "anabranch.ingestion.isolation.worker")
"""Not `multiprocessing`: scripts need no guard around their main part, and nothing of a threaded server is forked."""

_START_SECONDS = 120.0
_MOMENT = 2.0
_SIGKILL = 9
_SAID_BYTES = 4000
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_OUT_OF_MEMORY = ("memory allocation", "bad_alloc", "MemoryError", "out of memory", "cannot allocate")

# One thread in each process: there are as many processes as cores, and each thread's arena counts against the limit.
_FRUGAL = {
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


class ReaderProcess:
    """A reading process, used by one thread at a time but for `end_if_silent` and `kill`."""

    def __init__(self, setup: Setup, folder: Path, command: Sequence[str] = COMMAND) -> None:
        """Start it; it takes orders after `greet`.

        Raises:
            OperationError: It does not start.
        """
        self.orders = 0
        self._setup = setup
        self._limits = setup.limits
        self._deadline: float | None = None
        self._was_silent = False
        self._said = b""
        try:
            self._popen = subprocess.Popen(  # noqa: S603  # our own program
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(folder),
                start_new_session=True,  # a Ctrl-C in the terminal is for the parent alone
            )
        except OSError as error:
            raise _unstartable(str(error)) from error
        self._stdin, self._stdout = cast("BinaryIO", self._popen.stdin), cast("BinaryIO", self._popen.stdout)
        # All the time, for a library that prints more than a pipe holds would wait for ever.
        self._listener = threading.Thread(target=self._listen, name="anabranch-stderr", daemon=True)
        self._listener.start()

    def greet(self) -> None:
        """Tell the process what it has to know, and wait until it is ready.

        That goes over its standard input, never on a command line, where others could see passwords.

        Raises:
            OperationError: It did not get that far; the error says why.
        """
        # A process that has died already is told of by its silence: the next read says so, with the reason.
        with suppress(OSError):
            send(self._stdin, of_setup(self._setup))
        with self._timed(_START_SECONDS):
            first = receive(self._stdout)
        if first is None or first.tag != Tag.READY:
            self._ended()
            raise _unstartable(self._said.decode("utf-8", "replace").strip()[-500:])

    def order(self, path: Path, source: str, real: Path | None = None) -> None:
        """Ask for a file; whether that arrives, the next `head` tells."""
        self.orders += 1
        self._said = b""
        with suppress(OSError):
            send(self._stdin, of_order(path.absolute(), source, real))

    def head(self) -> tuple[Tag, int] | None:
        """Wait for the next frame's tag and length; None if the process has died, or was ended for its silence."""
        with self._timed(self._limits.seconds):
            found = receive_head(self._stdout)
        return None if self._was_silent else found

    def body(self, tag: Tag, length: int) -> Frame | None:
        """Read the rest of that frame; None as in `head`."""
        with self._timed(self._limits.seconds):
            found = receive_body(self._stdout, tag, length)
        return None if self._was_silent else found

    def end_if_silent(self) -> None:
        """Kill the process if something is waited for and the time for it is over."""
        deadline = self._deadline
        if deadline is not None and time.monotonic() > deadline:
            self._was_silent = True
            self.kill()

    def kill(self) -> None:
        """End the process and what it has started, at once."""
        if self._popen.poll() is None:  # so its number is still its own
            with suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL) if os.name == "posix" else self._popen.kill()

    def close(self) -> None:
        """Kill the process and let go of everything."""
        self.kill()
        self._popen.wait()
        self._listener.join(_MOMENT)
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):  # an order that nobody took is still in there
                stream.close()

    def fault(self, source: str) -> ReadingError:
        """Say what the process died of; it takes the blame for the file that it was reading."""
        code = self._ended()
        if self._was_silent:
            msg = f"reading {source!r} took over {self._limits.seconds:g} seconds without a result."
            return ReadingError(msg, reason="timeout", hint="It may be damaged: open it and save it anew.")
        said = self._said.decode("utf-8", "replace")
        # Libraries in C abort where memory ends, and only what they print last tells that from a crash.
        if any(words in said for words in _OUT_OF_MEMORY):
            return too_much_memory(source, self._limits)
        last = " ".join(said.strip().rpartition("\n")[2].split())[:200]
        why = f"{_name_of(code)}: {last}" if last else _name_of(code)
        if code == -_SIGKILL:
            why += ", most often for want of memory"
        msg = f"the program that was reading {source!r} died ({why})."
        return ReadingError(msg, reason="crashed", hint="It may be damaged: open it and save it anew.")

    @contextmanager
    def _timed(self, seconds: float) -> Iterator[None]:
        self._deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            # What came between two looks of whoever ends the silent is late all the same.
            self.end_if_silent()
            self._deadline = None

    def _ended(self) -> int:
        """Return the exit code of a process whose pipe is closed; one that lives on for all that is killed."""
        try:
            code = self._popen.wait(_MOMENT)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._popen.wait()
        # What the process has started may hold the other end open.
        self._listener.join(_MOMENT)
        return code

    def _listen(self) -> None:
        """Keep the end of what libraries print, and no more than that."""
        with cast("BinaryIO", self._popen.stderr) as stream:
            while said := os.read(stream.fileno(), _SAID_BYTES):
                self._said = (self._said + said)[-_SAID_BYTES:]


def _unstartable(said: str) -> OperationError:
    msg = f"The program that reads files does not start: {said or 'it says nothing'}"
    return OperationError(msg, hint="Check the Python that runs this, and the memory that is left.")


def _name_of(code: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit code {code}"


def _environment(folder: Path) -> dict[str, str]:
    """Return the parent's environment without its keys: whoever parses hostile files has no use for them."""
    kept = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    # The same modules as here, also from folders that this program itself has put on its path.
    modules = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    own = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    return kept | own | _FRUGAL | {"PYTHONPATH": modules}

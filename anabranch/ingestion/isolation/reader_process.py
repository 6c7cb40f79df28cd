"""The parent's side of a reading process: start it, send orders, receive replies, end it, and explain its death."""

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
    order_frame,
    receive,
    receive_body,
    receive_head,
    send,
    setup_frame,
)

COMMAND = (sys.executable, "-P", "-m", "anabranch.ingestion.isolation.worker")
"""Not `multiprocessing`, which needs a guard in scripts, or would fork a threaded server."""

_START_SECONDS = 120.0
_MOMENT = 2.0
_SIGKILL = 9
_STDERR_BYTES = 4000
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_OUT_OF_MEMORY = ("memory allocation", "bad_alloc", "MemoryError", "out of memory", "cannot allocate")

# One thread per process: there is a process for each core, and each thread's memory counts against the limit.
_FRUGAL = {
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


class ReaderProcess:
    """A reading process; other threads may call only `kill_if_silent` and `kill`."""

    def __init__(self, setup: Setup, folder: Path, command: Sequence[str] = COMMAND) -> None:
        """Start the process; it takes orders after `greet`.

        Raises:
            OperationError: It does not start.
        """
        self.orders = 0
        self._setup = setup
        self._limits = setup.limits
        self._deadline: float | None = None
        self._was_silent = False
        self._stderr_end = b""
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
            raise _start_error(str(error)) from error
        self._stdin, self._stdout = cast("BinaryIO", self._popen.stdin), cast("BinaryIO", self._popen.stdout)
        # Standard error is always read, because a library that fills the pipe would block for ever.
        self._listener = threading.Thread(target=self._listen, name="anabranch-stderr", daemon=True)
        self._listener.start()

    def greet(self) -> None:
        """Send the setup, and wait until the process is ready.

        It goes over standard input: on a command line, others could see passwords.

        Raises:
            OperationError: The process failed; the error says why.
        """
        # If the process has already died, the next read reports it, with the reason.
        with suppress(OSError):
            send(self._stdin, setup_frame(self._setup))
        with self._deadline_after(_START_SECONDS):
            first = receive(self._stdout)
        if first is None or first.tag != Tag.READY:
            self._wait_for_exit()
            raise _start_error(self._stderr_end.decode("utf-8", "replace").strip()[-500:])

    def order(self, path: Path, source: str, real: Path | None = None) -> None:
        """Send the order for a file; if that fails, the next `head` returns None."""
        self.orders += 1
        self._stderr_end = b""
        with suppress(OSError):
            send(self._stdin, order_frame(path.absolute(), source, real))

    def head(self) -> tuple[Tag, int] | None:
        """Wait for the next frame's tag and length; None if the process died or was killed for its silence."""
        with self._deadline_after(self._limits.seconds):
            found = receive_head(self._stdout)
        return None if self._was_silent else found

    def body(self, tag: Tag, length: int) -> Frame | None:
        """Read the rest of that frame; None as in `head`."""
        with self._deadline_after(self._limits.seconds):
            found = receive_body(self._stdout, tag, length)
        return None if self._was_silent else found

    def kill_if_silent(self) -> None:
        """Kill the process if its reply is overdue."""
        deadline = self._deadline
        if deadline is not None and time.monotonic() > deadline:
            self._was_silent = True
            self.kill()

    def kill(self) -> None:
        """Kill the process and its children."""
        if self._popen.poll() is None:  # so its process id is still valid
            with suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL) if os.name == "posix" else self._popen.kill()

    def close(self) -> None:
        """Kill the process and release its resources."""
        self.kill()
        self._popen.wait()
        self._listener.join(_MOMENT)
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):  # an unread order may still be buffered
                stream.close()

    def fault(self, source: str) -> ReadingError:
        """Return the error for the file that the process was reading when it died."""
        code = self._wait_for_exit()
        if self._was_silent:
            msg = f"reading {source!r} took over {self._limits.seconds:g} seconds without a result."
            return ReadingError(msg, reason="timeout", hint="The file may be damaged: open it and save it again.")
        output = self._stderr_end.decode("utf-8", "replace")
        # C libraries abort without memory; only their last output distinguishes that from a crash.
        if any(words in output for words in _OUT_OF_MEMORY):
            return too_much_memory(source, self._limits)
        last = " ".join(output.strip().rpartition("\n")[2].split())[:200]
        why = f"{_exit_name(code)}: {last}" if last else _exit_name(code)
        if code == -_SIGKILL:
            why += ", usually for lack of memory"
        msg = f"the process that was reading {source!r} died ({why})."
        return ReadingError(msg, reason="crashed", hint="The file may be damaged: open it and save it again.")

    @contextmanager
    def _deadline_after(self, seconds: float) -> Iterator[None]:
        self._deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            # A reply that came late between two checks is late all the same.
            self.kill_if_silent()
            self._deadline = None

    def _wait_for_exit(self) -> int:
        """Return the exit code of a process whose pipe is closed; kill it if it still runs."""
        try:
            code = self._popen.wait(_MOMENT)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._popen.wait()
        # Its children may hold the other end open.
        self._listener.join(_MOMENT)
        return code

    def _listen(self) -> None:
        """Keep the end of standard error."""
        with cast("BinaryIO", self._popen.stderr) as stream:
            while piece := os.read(stream.fileno(), _STDERR_BYTES):
                self._stderr_end = (self._stderr_end + piece)[-_STDERR_BYTES:]


def _start_error(output: str) -> OperationError:
    msg = f"The process that reads files did not start: {output or 'it printed nothing.'}"
    return OperationError(msg, hint="Check the Python installation and the free memory.")


def _exit_name(code: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit code {code}"


def _environment(folder: Path) -> dict[str, str]:
    """Return the parent's environment without keys, which a process that parses hostile files must not have."""
    safe = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    # The same import path as here.
    modules = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    own = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    return safe | own | _FRUGAL | {"PYTHONPATH": modules}

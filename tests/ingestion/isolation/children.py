"""A reading process whose PDFs are scripts: what real files do to readers, on demand."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch.ingestion.isolation import process_pool
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.process_pool import ReaderPool
from anabranch.ingestion.isolation.reader_process import ReaderProcess
from anabranch.ingestion.isolation.worker_protocol import Setup
from anabranch.readers.document import PLAIN, Failure, ReadOptions

SCRIPT = """
import ctypes, os, sys, time
from pathlib import Path
from types import ModuleType
from anabranch.readers.document import Block, Document
from anabranch.readers import Failure
from anabranch.ingestion.isolation import worker
from anabranch.readers.heartbeat import beat
from anabranch.errors import ReadingError

orders = 0

def document(source, text):
    return Document(source, "Title", (Block(text),))

def play(path, source, options):
    global orders
    orders += 1
    verb, *rest = path.read_text("utf-8").split()
    if verb == "say":
        yield document(source, " ".join(rest))
    elif verb == "sleep":
        time.sleep(float(rest[0]))
        yield document(source, "slept")
    elif verb == "many":
        for number in range(int(rest[0])):
            yield document(f"{source}#{number}", "x" * int(rest[1]))
    elif verb == "hang":
        yield document(f"{source}#1", "before it hangs")
        ctypes.PyDLL(None).pause()  # as a library does that keeps the interpreter lock
    elif verb == "fault":
        ctypes.string_at(0)
    elif verb == "fault-if-used":
        ctypes.string_at(0) if orders > 1 else None
        yield document(source, "fresh")
    elif verb == "exit":
        print("no luck", file=sys.stderr)
        os._exit(3)
    elif verb == "warn":
        print(*rest, file=sys.stderr, flush=True)
        time.sleep(0.2)
        yield document(source, "warned")
    elif verb == "killed":
        os.kill(os.getpid(), 9)
    elif verb == "abort":
        print("memory allocation of 12345678 bytes failed", file=sys.stderr, flush=True)
        os.abort()
    elif verb == "blow":
        rest = [bytes(1 << 20) for _ in range(1 << 14)]
    elif verb == "print":
        print("noise" * 10000)
        os.write(1, b"more noise")
        os.write(2, b"noise" * 100000)
        yield document(source, repr(sys.stdin.read()))
    elif verb == "work":
        for _ in range(int(rest[0])):
            time.sleep(0.1)
            beat()
        yield document(source, "worked")
    elif verb == "fail":
        yield Failure(f"{source}:1", "broken", "a part")
        raise ReadingError("the rest", reason="encrypted", hint="Try.")
    elif verb == "tell":
        known = [*sys.argv, *os.environ, *os.environ.values(), os.environ["TMPDIR"]]
        Path(os.environ["TMPDIR"], "left").touch()
        yield document(source, " ".join(known))
        yield document(f"{source}#options", repr(options.passwords))
        yield document(f"{source}#process", str(os.getpid()))

# The real module loads MuPDF: two thirds of what it takes to start such a process.
pdf = sys.modules["anabranch_readers.pdf"] = ModuleType("pdf")
pdf.read_pdf = play
worker.main()
"""
COMMAND = (sys.executable, "-c", SCRIPT)


@dataclass(frozen=True)
class File:
    path: Path
    source: str
    real: Path | None = None

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def scripts(folder: Path, *lines: str) -> list[File]:
    """Make a file of each script, named by its place."""
    files = [File(folder / f"{number}.pdf", f"{number}.pdf") for number in range(len(lines))]
    for file, line in zip(files, lines, strict=True):
        file.path.write_text(line, encoding="utf-8")
    return files


def pool_of(
    processes: int = 1,
    *,
    seconds: float = 60.0,
    megabytes: int = 1024,
    options: ReadOptions = PLAIN,
    tokenizer: str = "",
) -> ReaderPool:
    setup = Setup(Limits(seconds, megabytes << 20), options, tokenizer, (64, 32, 16))
    return ReaderPool(setup, processes=processes, command=COMMAND)


def only_hangs(monkeypatch: pytest.MonkeyPatch, name: str, after: int = 0) -> None:
    """Let the limit on seconds hold for the file of this name alone, once so many parts of it have come.

    The others have all the time in the world: how long a file takes that does not hang says how busy the machine is.
    """

    class Patient(ReaderProcess):
        def order(self, path: Path, source: str, real: Path | None = None) -> None:
            self.left = after if path.name == name else sys.maxsize
            super().order(path, source, real)

        def head(self) -> object:
            limits = self._setup.limits
            self._limits = limits if self.left <= 0 else replace(limits, seconds=3600)
            self.left -= 1
            return super().head()

    monkeypatch.setattr(process_pool, "ReaderProcess", Patient)


def outcomes(pool: ReaderPool, files: list[File]) -> list[str]:
    """Return, file by file, the texts that came and what went wrong."""
    told: list[str] = []
    with pool:
        for file, parts in pool.read(files):
            told.append(f"{file.source}:")
            try:
                for part in parts:
                    told.append(part.message if isinstance(part, Failure) else part.document.blocks[0].text)
            except ReadingError as error:
                told.append(f"{error.reason}: {error.message}")
    return told

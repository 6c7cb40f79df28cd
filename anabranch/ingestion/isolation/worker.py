"""The process that reads files: `python -m anabranch.ingestion.isolation.worker`, started by a pool.

It reads one file at a time and sends its documents as they come. It is meant to be killed: it holds nothing that
another one could not read again.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from anabranch.errors import ReadingError
from anabranch.ingestion.isolation.process_limits import GRACE, confine, end_after, too_much_memory, used_bytes
from anabranch.ingestion.isolation.read_and_chunk import read_and_chunk
from anabranch.ingestion.isolation.worker_protocol import (
    Frame,
    Setup,
    Tag,
    of_end,
    of_error,
    of_part,
    receive,
    send,
    to_order,
    to_setup,
)
from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.readers.heartbeat import heard_by

MOST_FILES = 200
"""That one process reads; libraries leak."""

_MOST_BEATS = 4
"""Within the longest silence; more would only keep the parent busy."""


def main() -> None:
    """Obey orders until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    orders, replies = _streams()
    with suppress(BrokenPipeError):  # nobody is left to tell
        first = receive(orders)
        if first is not None:
            _obey(to_setup(first), orders, replies)


def _obey(setup: Setup, orders: BinaryIO, replies: BinaryIO) -> None:
    reader = _Reader(setup, replies)
    # After the libraries are loaded and before the first file: no byte of a document is read without limits.
    confine(setup.limits)
    send(replies, Frame(Tag.READY))
    for number in range(1, MOST_FILES + 1):
        order = receive(orders)
        if order is None:
            return
        reader.read(*to_order(order), is_last=number == MOST_FILES)


class _Reader:
    """Answers orders."""

    def __init__(self, setup: Setup, replies: BinaryIO) -> None:
        self._setup = setup
        self._replies = replies
        self._tokens = WordPieces(Path(setup.tokenizer)) if setup.tokenizer else None
        self._spoke = 0.0

    def read(self, path: Path, source: str, real: Path | None, *, is_last: bool) -> None:
        """Send the parts of a file, then how it ended."""
        end_after(self._setup.limits.seconds + GRACE)
        last: Frame | None = None
        try:
            with heard_by(self._beat):
                for part in read_and_chunk(path, source, self._setup.options, self._tokens, self._setup.sizes, real):
                    self._send(of_part(part))
        except ReadingError as error:
            last = of_error(error, leaves=is_last or self._has_grown())
        except MemoryError:
            pass  # what holds the memory is let go of with the exception, at the end of this block
        else:
            last = of_end(leaves=is_last or self._has_grown())
        # After a lack of memory, what is free may be in pieces: another process goes on.
        self._send(last or of_error(too_much_memory(source, self._setup.limits), leaves=True))
        end_after(0)

    def _has_grown(self) -> bool:
        # What the last file has left behind would count against the next one.
        return used_bytes() > self._setup.limits.bytes // 4

    def _beat(self) -> None:
        if time.monotonic() - self._spoke >= self._setup.limits.seconds / _MOST_BEATS:
            self._send(Frame(Tag.BEAT))

    def _send(self, frame: Frame) -> None:
        # Whoever waits for the parent takes as long as that does.
        end_after(0)
        send(self._replies, frame)
        self._spoke = time.monotonic()
        end_after(self._setup.limits.seconds + GRACE)


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes to the parent under numbers of their own; libraries that read or print get nowhere near them."""
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return orders, replies


if __name__ == "__main__":
    main()

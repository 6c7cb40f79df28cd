"""The process that reads files: `python -m anabranch.ingestion.isolation.worker`, started by a pool.

It reads one file at a time and sends the documents as they come. It may be killed at any time, because another process
can read the file again.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from anabranch.chunking.leaf_unit import unit_counter
from anabranch.errors import ReadingError
from anabranch.ingestion.isolation.process_limits import GRACE, confine, end_after, too_much_memory, used_bytes
from anabranch.ingestion.isolation.read_and_chunk import read_and_chunk
from anabranch.ingestion.isolation.worker_protocol import (
    Frame,
    Setup,
    Tag,
    end_frame,
    error_frame,
    parse_order,
    parse_setup,
    part_frame,
    receive,
    send,
)
from anabranch.models.wordpiece_tokenizer import Tokens, WordPieces
from anabranch.readers.heartbeat import heard_by

MOST_FILES = 200
"""Most files per process, because libraries leak memory."""

_MOST_BEATS = 4
"""Most heartbeats within the time limit; more would only keep the parent busy."""


def main() -> None:
    """Read files as ordered until there are no more orders."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    orders, replies = _streams()
    with suppress(BrokenPipeError):  # the parent is gone
        first = receive(orders)
        if first is not None:
            _follow_orders(parse_setup(first), orders, replies)


def _follow_orders(setup: Setup, orders: BinaryIO, replies: BinaryIO) -> None:
    reader = _Reader(setup, replies)
    # After loading the libraries, but before reading any byte of a document.
    confine(setup.limits)
    send(replies, Frame(Tag.READY))
    for number in range(1, MOST_FILES + 1):
        order = receive(orders)
        if order is None:
            return
        reader.read(*parse_order(order), is_last=number == MOST_FILES)


class _Reader:
    """Reads files and sends their parts."""

    def __init__(self, setup: Setup, replies: BinaryIO) -> None:
        self._setup = setup
        self._replies = replies
        own = WordPieces(Path(setup.tokenizer)) if setup.tokenizer else None
        self._tokens: Tokens | None = unit_counter(setup.unit) if setup.unit else own
        self._spoke = 0.0

    def read(self, path: Path, source: str, real: Path | None, *, is_last: bool) -> None:
        """Send the parts of a file, then its end or error."""
        end_after(self._setup.limits.seconds + GRACE)
        last: Frame | None = None
        try:
            with heard_by(self._beat):
                for part in read_and_chunk(path, source, self._setup.options, self._tokens, self._setup.sizes, real):
                    self._send(part_frame(part))
        except ReadingError as error:
            last = error_frame(error, leaves=is_last or self._has_grown())
        except MemoryError:
            pass  # the memory is freed together with the exception, after this block
        else:
            last = end_frame(leaves=is_last or self._has_grown())
        # After a lack of memory, the heap may be fragmented, so this process ends.
        self._send(last or error_frame(too_much_memory(source, self._setup.limits), leaves=True))
        end_after(0)

    def _has_grown(self) -> bool:
        # Memory that earlier files left would count against the next one.
        return used_bytes() > self._setup.limits.bytes // 4

    def _beat(self) -> None:
        if time.monotonic() - self._spoke >= self._setup.limits.seconds / _MOST_BEATS:
            self._send(Frame(Tag.BEAT))

    def _send(self, frame: Frame) -> None:
        # No limit while the parent is busy.
        end_after(0)
        send(self._replies, frame)
        self._spoke = time.monotonic()
        end_after(self._setup.limits.seconds + GRACE)


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes to the parent under new descriptors, so that libraries that read or print do not use them."""
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return orders, replies


if __name__ == "__main__":
    main()

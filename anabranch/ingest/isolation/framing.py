"""Frames over a pipe: a tag, a length, and that many bytes."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import BinaryIO, NamedTuple

MOST_BYTES = 256 << 20
"""In one frame: it is held in memory on both sides."""

_HEAD = struct.Struct(">BQ")


class Tag(IntEnum):
    """What a frame is."""

    SETUP = 1
    READY = 2
    ORDER = 3
    CUT = 4
    FAILURE = 5
    BEAT = 6
    ERROR = 7
    END = 8


class Frame(NamedTuple):
    """One message."""

    tag: Tag
    body: bytes = b""

    @property
    def is_last(self) -> bool:
        """Whether the answer to an order ends with it."""
        return self.tag in (Tag.ERROR, Tag.END)


def send(stream: BinaryIO, frame: Frame) -> None:
    """Write a frame; waits until there is room in the pipe."""
    stream.write(_HEAD.pack(frame.tag, len(frame.body)))
    stream.write(frame.body)
    stream.flush()


def receive(stream: BinaryIO) -> Frame | None:
    """Wait for a frame; None where the other side has gone, or talks nonsense."""
    head = receive_head(stream)
    return receive_body(stream, *head) if head else None


def receive_head(stream: BinaryIO) -> tuple[Tag, int] | None:
    """Wait for a frame's tag and length alone, so that its reader can make room; None as in `receive`."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    tag, length = _HEAD.unpack(head)
    return (Tag(tag), length) if tag in set(Tag) and length <= MOST_BYTES else None


def receive_body(stream: BinaryIO, tag: Tag, length: int) -> Frame | None:
    """Read the rest of a frame; None as in `receive`."""
    body = stream.read(length)
    return Frame(tag, body) if len(body) == length else None

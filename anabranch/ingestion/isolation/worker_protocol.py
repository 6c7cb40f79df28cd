"""The protocol between a reading process and its parent: frames of a tag, a length and that many bytes of JSON.

No pickle, because a process that parses hostile files must not be able to send code.
"""

from __future__ import annotations

import json
import struct
import traceback
from dataclasses import asdict, dataclass, fields
from enum import IntEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from anabranch.chunking.hierarchical_chunker import ChunkNode, Sizes, Tree
from anabranch.errors import ReadingError
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument, FilePart
from anabranch.readers.document import Block, Document, Failure, ReadOptions
from anabranch.readers.faults import log
from anabranch.store.records import make_json_safe

MOST_BYTES = 256 << 20
"""Most bytes of a frame, which both sides hold in memory."""

_MOST_TRACE = 4000

_BLOCK = [field.name for field in fields(Block)]
_NODE = [field.name for field in fields(ChunkNode) if field.name != "text"]
_HEAD = struct.Struct(">BQ")


class Tag(IntEnum):
    """The kind of a frame."""

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
        """Whether it ends the reply to an order."""
        return self.tag in (Tag.ERROR, Tag.END)


def send(stream: BinaryIO, frame: Frame) -> None:
    """Write a frame; wait until there is room in the pipe."""
    stream.write(_HEAD.pack(frame.tag, len(frame.body)))
    stream.write(frame.body)
    stream.flush()


def receive(stream: BinaryIO) -> Frame | None:
    """Wait for a frame; None if the other side is gone, or the frame is invalid."""
    head = receive_head(stream)
    return receive_body(stream, *head) if head else None


def receive_head(stream: BinaryIO) -> tuple[Tag, int] | None:
    """Wait for a frame's tag and length, so that the reader can make room; None as in `receive`."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    tag, length = _HEAD.unpack(head)
    # A process that was taken over can send any length; the parent allocates no more than this.
    return (Tag(tag), length) if tag in set(Tag) and length <= MOST_BYTES else None


def receive_body(stream: BinaryIO, tag: Tag, length: int) -> Frame | None:
    """Read the rest of a frame; None as in `receive`."""
    body = stream.read(length)
    return Frame(tag, body) if len(body) == length else None


@dataclass(frozen=True, slots=True)
class Setup:
    """The options of a reading process.

    Attributes:
        limits: Limits of each file.
        options: How files are read.
        tokenizer: Path of the `tokenizer.json` to count with; empty to leave the cutting to the parent.
        sizes: Most tokens of a root, a middle and a leaf.
        unit: A unit of leaves that needs no tokenizer from here; empty to count with that.
    """

    limits: Limits
    options: ReadOptions
    tokenizer: str
    sizes: Sizes
    unit: str = ""


def setup_frame(setup: Setup) -> Frame:
    """Return the first frame to a process."""
    return Frame(Tag.SETUP, _to_json(asdict(setup)))


def parse_setup(frame: Frame) -> Setup:
    """Return the setup in a frame."""
    facts = {name: _to_tuples(value) for name, value in _from_json(frame).items()}
    options = {name: _to_tuples(value) for name, value in facts["options"].items()}
    return Setup(**facts | {"limits": Limits(**facts["limits"]), "options": ReadOptions(**options)})


def order_frame(path: Path, source: str, real: Path | None = None) -> Frame:
    """Return the frame that asks for a file; see `read_and_chunk`."""
    return Frame(Tag.ORDER, _to_json([str(path), source, None if real is None else str(real)]))


def parse_order(frame: Frame) -> tuple[Path, str, Path | None]:
    """Return path, source and resolved path of an order."""
    path, source, real = _from_json(frame)
    return Path(path), source, None if real is None else Path(real)


def part_frame(part: FilePart) -> Frame:
    """Return the frame of a document or of a failure.

    Raises:
        ReadingError: `too_large`: more than one frame may hold.
    """
    if isinstance(part, Failure):
        return Frame(Tag.FAILURE, _to_json([part.source, part.reason, part.message]))
    document, tree = part.document, part.tree
    facts = {field.name: getattr(document, field.name) for field in fields(Document)}
    blocks = [[getattr(block, name) for name in _BLOCK] for block in document.blocks]
    facts |= {"metadata": make_json_safe(document.metadata), "blocks": blocks}
    # Without their text, which the tree has: otherwise a document would be sent four times.
    nodes = [[getattr(node, name) for name in _NODE] for node in tree.nodes] if tree else None
    body = _to_json([facts, tree.text if tree else None, nodes])
    if len(body) > MOST_BYTES:
        msg = f"{document.source!r} is one document of over {len(document.blocks)} paragraphs, too large to process."
        raise ReadingError(msg, reason="too_large", hint="Split it.")
    return Frame(Tag.CUT, body)


def parse_part(frame: Frame) -> FilePart:
    """Return the document or the failure in a frame.

    Raises:
        ReadingError: The frame holds an error.
    """
    given = _from_json(frame)
    if frame.tag == Tag.ERROR:
        if given["trace"]:
            log.info("%s\n%s", given["message"], given["trace"])
        raise ReadingError(given["message"], reason=given["reason"], hint=given["hint"])
    if frame.tag == Tag.FAILURE:
        return Failure(*given)
    facts, text, nodes = given
    facts = {name: value if name == "metadata" else _to_tuples(value) for name, value in facts.items()}
    facts["blocks"] = tuple(Block(*values) for values in facts["blocks"])
    tree = None if nodes is None else Tree(text, tuple(_node(values, text) for values in nodes))
    return ChunkedDocument(Document(**facts), tree)


def error_frame(error: ReadingError, *, leaves: bool = False) -> Frame:
    """Return the frame that ends an order with an error."""
    facts = {"message": error.message, "reason": error.reason, "hint": error.hint, "leaves": leaves}
    trace = "".join(traceback.format_exception(error.__cause__))[-_MOST_TRACE:] if error.__cause__ else ""
    return Frame(Tag.ERROR, _to_json(facts | {"trace": trace}))


def end_frame(*, leaves: bool) -> Frame:
    """Return the frame that ends an order successfully."""
    return Frame(Tag.END, _to_json({"leaves": leaves}))


def leaves(frame: Frame) -> bool:
    """Tell from its last frame whether a process ends, because it has grown or has read enough files."""
    return bool(_from_json(frame)["leaves"])


def reason(frame: Frame) -> str:
    """Return the reason of an error; empty after a success."""
    return str(_from_json(frame).get("reason", ""))


def _node(values: list[Any], text: str) -> ChunkNode:
    facts = dict(zip(_NODE, values, strict=True))
    return ChunkNode(**facts, text=text[facts["start"] : facts["end"]])


def _to_tuples(value: Any) -> Any:  # noqa: ANN401  # JSON
    return tuple(_to_tuples(item) for item in value) if isinstance(value, list) else value


def _to_json(value: Any) -> bytes:  # noqa: ANN401  # JSON
    # Surrogates stand for bytes of file names that are not UTF-8.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _from_json(frame: Frame) -> Any:  # noqa: ANN401  # JSON
    return json.loads(frame.body.decode("utf-8", "surrogatepass"))

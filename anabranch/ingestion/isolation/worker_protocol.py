"""What a reading process and its parent say to each other: JSON in frames of a tag, a length and that many bytes.

No pickle: whoever parses hostile files must not be able to send code.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, fields
from enum import IntEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from anabranch.chunking.hierarchical_chunker import ChunkNode, Sizes, Tree
from anabranch.errors import ReadingError
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument, FilePart
from anabranch.readers.document import Block, Document, Failure, ReadOptions
from anabranch.store.records import make_json_safe

MOST_BYTES = 256 << 20
"""In one frame: it is held in memory on both sides."""

_BLOCK = [field.name for field in fields(Block)]
_NODE = [field.name for field in fields(ChunkNode) if field.name != "text"]
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
    # Whoever has taken the process over can send any number; the parent allocates no more than this.
    return (Tag(tag), length) if tag in set(Tag) and length <= MOST_BYTES else None


def receive_body(stream: BinaryIO, tag: Tag, length: int) -> Frame | None:
    """Read the rest of a frame; None as in `receive`."""
    body = stream.read(length)
    return Frame(tag, body) if len(body) == length else None


@dataclass(frozen=True, slots=True)
class Setup:
    """What a reading process has to know before its first file.

    Attributes:
        limits: What each file may cost.
        options: How files are read.
        tokenizer: The `tokenizer.json` to count with; empty to leave the cutting to the parent.
        sizes: Most tokens of a root, a middle and a leaf.
    """

    limits: Limits
    options: ReadOptions
    tokenizer: str
    sizes: Sizes


def of_setup(setup: Setup) -> Frame:
    """Return the first frame to a process."""
    return Frame(Tag.SETUP, _dumped(asdict(setup)))


def to_setup(frame: Frame) -> Setup:
    """Undo `of_setup`."""
    facts = {name: _tupled(value) for name, value in _loaded(frame).items()}
    options = {name: _tupled(value) for name, value in facts["options"].items()}
    return Setup(**facts | {"limits": Limits(**facts["limits"]), "options": ReadOptions(**options)})


def of_order(path: Path, source: str, real: Path | None = None) -> Frame:
    """Return the frame that asks for a file; see `read_and_chunk`."""
    return Frame(Tag.ORDER, _dumped([str(path), source, None if real is None else str(real)]))


def to_order(frame: Frame) -> tuple[Path, str, Path | None]:
    """Undo `of_order`."""
    path, source, real = _loaded(frame)
    return Path(path), source, None if real is None else Path(real)


def of_part(part: FilePart) -> Frame:
    """Return the frame of a document or of a failure.

    Raises:
        ReadingError: `too_large`: more than one frame may hold.
    """
    if isinstance(part, Failure):
        return Frame(Tag.FAILURE, _dumped([part.source, part.reason, part.message]))
    document, tree = part.document, part.tree
    facts = {field.name: getattr(document, field.name) for field in fields(Document)}
    blocks = [[getattr(block, name) for name in _BLOCK] for block in document.blocks]
    facts |= {"metadata": make_json_safe(document.metadata), "blocks": blocks}
    # Without their text, which is that of the tree: a document would be sent four times.
    nodes = [[getattr(node, name) for name in _NODE] for node in tree.nodes] if tree else None
    body = _dumped([facts, tree.text if tree else None, nodes])
    if len(body) > MOST_BYTES:
        msg = f"{document.source!r} is one document of over {len(document.blocks)} paragraphs, too large to be kept."
        raise ReadingError(msg, reason="too_large", hint="Split it.")
    return Frame(Tag.CUT, body)


def to_part(frame: Frame) -> FilePart:
    """Undo `of_part`.

    Raises:
        ReadingError: What the frame tells if it is an error.
    """
    given = _loaded(frame)
    if frame.tag == Tag.ERROR:
        raise ReadingError(given["message"], reason=given["reason"], hint=given["hint"])
    if frame.tag == Tag.FAILURE:
        return Failure(*given)
    facts, text, nodes = given
    facts = {name: value if name == "metadata" else _tupled(value) for name, value in facts.items()}
    facts["blocks"] = tuple(Block(*values) for values in facts["blocks"])
    tree = None if nodes is None else Tree(text, tuple(_node(values, text) for values in nodes))
    return ChunkedDocument(Document(**facts), tree)


def of_error(error: ReadingError, *, leaves: bool = False) -> Frame:
    """Return the frame that ends an order in vain."""
    facts = {"message": error.message, "reason": error.reason, "hint": error.hint, "leaves": leaves}
    return Frame(Tag.ERROR, _dumped(facts))


def of_end(*, leaves: bool) -> Frame:
    """Return the frame that ends an order well."""
    return Frame(Tag.END, _dumped({"leaves": leaves}))


def leaves(frame: Frame) -> bool:
    """Tell from its last frame whether a process takes no more orders, because it has grown or is spent."""
    return bool(_loaded(frame)["leaves"])


def reason(frame: Frame) -> str:
    """Return the reason of an error, empty for an end that went well."""
    return str(_loaded(frame).get("reason", ""))


def _node(values: list[Any], text: str) -> ChunkNode:
    facts = dict(zip(_NODE, values, strict=True))
    return ChunkNode(**facts, text=text[facts["start"] : facts["end"]])


def _tupled(value: Any) -> Any:  # noqa: ANN401  # JSON
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value


def _dumped(value: Any) -> bytes:  # noqa: ANN401  # JSON
    # Surrogates stand for bytes of file names that are no UTF-8.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _loaded(frame: Frame) -> Any:  # noqa: ANN401  # JSON
    return json.loads(frame.body.decode("utf-8", "surrogatepass"))

r"""The lines of an exported corpus.

::

    {"kind": "corpus", "format": "anabranch", "version": 1, "embedder": ..., "sizes": [2048, 512, 128], ...}
    {"kind": "document", "source": ..., "title": ..., "access": [], "metadata": {}, ..., "text": ..., "chunks": [...]}
    {"kind": "file", "path": ..., "source": ..., "sha256": ..., "access": [], "documents": 1}
    {"kind": "end", "documents": 1, "files": 1}

Each line ends with a checksum of itself, so that a document comes back exactly as it was, or not at all. Addresses of
servers and paths of models are not written: whoever reads the file says where its words may be sent.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StringConstraints, TypeAdapter, ValidationError

from anabranch.chunking.hierarchical_chunker import Sizes, check_sizes

CHECKSUM = "line_sha256"
LONGEST = 1 << 30
"""Bytes of a line; what is longer was not exported from a corpus."""

Record = dict[str, Any]

# Strict: JSON's true is no number, and text is none.
WholeNumber = Annotated[int, Field(strict=True, ge=0)]
# With something visible in it: an empty tag would be no tag, and no tag is everybody.
VisibleText = Annotated[str, StringConstraints(pattern=r"\S")]

ChunkRow = tuple[
    Annotated[WholeNumber, Field(le=2)],
    WholeNumber,
    WholeNumber,
    WholeNumber,
    WholeNumber | None,
    WholeNumber | None,
    str,
]
"""Level, start, end, tokens, first page, last page and heading of a chunk."""


class Header(BaseModel):
    """The first line.

    Attributes:
        embedder: Name of the embedder, empty where it could not be read.
        dimension: Length of its vectors.
        sizes: Tokens of root, middle and leaf; None where they could not be read.
        language: Of the analyser.
        documents: How many documents the corpus had, None where they could not be counted.
        vectors: Whether the vectors are in the file.
    """

    kind: Literal["corpus"] = "corpus"
    format: Literal["anabranch"] = "anabranch"
    version: Literal[1] = 1
    embedder: str
    dimension: WholeNumber
    sizes: Annotated[Sizes, AfterValidator(check_sizes)] | None
    language: str
    documents: WholeNumber | None
    vectors: StrictBool


class DocumentLine(BaseModel):
    """A document.

    Attributes:
        pages: First character and number of each page.
        text: What its leaves say, one after the other.
        chunks: In reading order, parents before their children.
        vectors: Those of its leaves as 32-bit numbers in base 64, if they are in the file.
    """

    kind: Literal["document"] = "document"
    source: VisibleText
    title: str
    key: str
    access: list[VisibleText]
    metadata: dict[str, Any]
    path: str
    digest: str
    pages: list[tuple[WholeNumber, WholeNumber]]
    text: str
    chunks: list[ChunkRow]
    vectors: str | None = None


class FileLine(BaseModel):
    """The record of a file that was taken in, with the number of its documents: a later ingest leaves it alone.

    What the file system said of it (size, times) stays behind: elsewhere it is no evidence of anything.
    """

    kind: Literal["file"] = "file"
    path: str
    source: str
    sha256: str
    access: list[VisibleText]
    documents: WholeNumber


class EndLine(BaseModel):
    """The last line: whoever does not come to it knows that the file is cut off."""

    kind: Literal["end"] = "end"
    documents: WholeNumber
    files: WholeNumber = 0


ExportLine = DocumentLine | FileLine | EndLine

_Line = TypeVar("_Line")

HEADER: TypeAdapter[Header] = TypeAdapter(Header)
LINES: TypeAdapter[ExportLine] = TypeAdapter(Annotated[ExportLine, Field(discriminator="kind")])


def parsed_line(record: Record, kind: TypeAdapter[_Line]) -> _Line:
    """Return what a line says; `HEADER` is the kind of the first one, `LINES` of the others.

    Raises:
        ValueError: It lacks something, or is of another kind or version.
    """
    try:
        return kind.validate_python(record)
    except ValidationError as error:
        # Only the first of them: of a document with a thousand chunks, each may be wrong in the same way.
        first = error.errors(include_url=False, include_context=False)[0]
        said = ": ".join((".".join(map(str, first["loc"])), first["msg"])).removeprefix(": ")
        raise ValueError(said) from error


def line_of(record: Record) -> bytes:
    """Return a line with its checksum and its end."""
    # The checksum is one more key and not a line of its own: sorting, cutting and joining files by lines keeps each
    # with its own.
    signed = {**record, CHECKSUM: checksum(record)}
    return json.dumps(signed, ensure_ascii=False).encode("utf-8") + b"\n"


def record_of(line: bytes) -> Record:
    """Return what a line holds, without its checksum.

    Raises:
        ValueError: It is not JSON, or not what was written.
    """
    try:
        record = json.loads(line.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(record, dict):
        raise ValueError("it is not a line of an exported corpus")  # noqa: TRY004  # a bad line, not a bad call
    if record.pop(CHECKSUM, None) != checksum(record):
        raise ValueError("it is not what was exported: its checksum differs")
    return record


def checksum(record: Record) -> str:
    """Return 32 hex characters that name what a record holds, in whatever order."""
    # Sorted, because programs between export and import may write the keys in another order.
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]

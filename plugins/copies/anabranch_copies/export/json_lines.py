r"""The lines of an exported corpus.

::

    {"kind": "corpus", "format": "anabranch", "version": 1, "embedder": ..., "sizes": [2048, 512, 128], ...}
    {"kind": "document", "source": ..., "title": ..., "access": [], "metadata": {}, ..., "text": ..., "chunks": [...]}
    {"kind": "file", "path": ..., "source": ..., "sha256": ..., "access": [], "documents": 1}
    {"kind": "end", "documents": 1, "files": 1}

Each line ends with its checksum, so that a document is restored exactly, or not at all. Addresses of servers and paths
of models are not exported: the user who imports chooses where text may be sent.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StringConstraints, TypeAdapter, ValidationError

from anabranch.chunking.hierarchical_chunker import Sizes, check_sizes

CHECKSUM = "line_sha256"
LONGEST = 1 << 30
"""Most bytes of a line; no corpus exports longer ones."""

Record = dict[str, Any]

# Strict: neither `true` nor text is a number.
WholeNumber = Annotated[int, Field(strict=True, ge=0)]
# Not blank: an empty tag would be no tag, which allows everybody.
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
        embedder: Name of the embedder, empty if it could not be read.
        dimension: Length of its vectors.
        sizes: Tokens of root, middle and leaf; None if they could not be read.
        leaf_unit: See `anabranch.chunking.leaf_unit`.
        language: Language of the analyser.
        documents: Number of documents in the corpus; None if they could not be counted.
        vectors: Whether the vectors are in the file.
    """

    kind: Literal["corpus"] = "corpus"
    format: Literal["anabranch"] = "anabranch"
    version: Literal[1] = 1
    embedder: str
    dimension: WholeNumber
    sizes: Annotated[Sizes, AfterValidator(check_sizes)] | None
    leaf_unit: str = ""
    language: str
    documents: WholeNumber | None
    vectors: StrictBool


class DocumentLine(BaseModel):
    """A document.

    Attributes:
        pages: First character and number of each page.
        text: The concatenated text of its leaves.
        chunks: In reading order, parents before their children.
        vectors: The vectors of its leaves as 32-bit numbers in base 64, if exported.
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
    """The record of an ingested file with the number of its documents, so that a later ingest can skip it.

    It lacks the stamp (size, times), which means nothing in another place.
    """

    kind: Literal["file"] = "file"
    path: str
    source: str
    sha256: str
    access: list[VisibleText]
    documents: WholeNumber


class EndLine(BaseModel):
    """The last line; without it, the file is cut off."""

    kind: Literal["end"] = "end"
    documents: WholeNumber
    files: WholeNumber = 0


ExportLine = DocumentLine | FileLine | EndLine

_Line = TypeVar("_Line")

HEADER: TypeAdapter[Header] = TypeAdapter(Header)
LINES: TypeAdapter[ExportLine] = TypeAdapter(Annotated[ExportLine, Field(discriminator="kind")])


def parsed_line(record: Record, kind: TypeAdapter[_Line]) -> _Line:
    """Return a validated line; `HEADER` is the kind of the first one, `LINES` of the others.

    Raises:
        ValueError: It is incomplete, or of another kind or version.
    """
    try:
        return kind.validate_python(record)
    except ValidationError as error:
        # Only the first error: a thousand chunks may have the same one.
        first = error.errors(include_url=False, include_context=False)[0]
        problem = ": ".join((".".join(map(str, first["loc"])), first["msg"])).removeprefix(": ")
        raise ValueError(problem) from error


def line_of(record: Record) -> bytes:
    """Return a line with its checksum and its end."""
    # The checksum is a key in the line, so that files can be sorted, cut and joined by lines.
    signed = {**record, CHECKSUM: checksum(record)}
    return json.dumps(signed, ensure_ascii=False).encode("utf-8") + b"\n"


def record_of(line: bytes) -> Record:
    """Return the content of a line without its checksum.

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
    """Return 32 hex characters that depend on the content of a record, not on the order of its keys."""
    # Sorted, because other programs may have reordered the keys.
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]

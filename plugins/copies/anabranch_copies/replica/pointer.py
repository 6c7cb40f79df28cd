"""The published records: a pointer names generations, and the catalog of each names its files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anabranch.errors import CorpusDamagedError
from anabranch.readers.corpus_marker import POINTER
from anabranch_copies.replica.object_store import digest_of_bytes

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Release:
    """One generation as it is published.

    Attributes:
        name: Of the generation; empty where the corpus holds no passage any more.
        order: Changes of the documents and number of the generation: a later one is greater.
        catalog: Name of the file that has the catalog; empty where the corpus holds no passage.
        until: When it may be removed, in seconds since 1970; None for the current one.
        dropped: Names of the files that the next generation no longer uses.
    """

    name: str
    order: tuple[int, int]
    catalog: str
    until: float | None = None
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pointer:
    """The generations: the current one first, then earlier ones.

    Attributes:
        corpus: Random id of the corpus, which it keeps when its folder is moved.
    """

    corpus: str
    releases: tuple[Release, ...]

    @property
    def current(self) -> Release:
        """The generation to read."""
        return self.releases[0]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The files of one generation.

    Attributes:
        name: Of the generation.
        version: Of the tables that the rows are of.
        facts: About the corpus (`CorpusWriter.keep_meta`).
        index: Name of each file of the index by its path below the folder of the corpus.
        passages: Name of the file with the documents of each segment; "" is for documents without passages.
        sources: First path, last path and name of the file with what is known of the files in between.
        summaries: First id, last id and name of the file with the summaries of the documents in between.
    """

    name: str
    version: int
    facts: dict[str, str]
    index: dict[str, str]
    passages: dict[str, str]
    sources: list[tuple[str, str, str]]
    summaries: list[tuple[str, str, str]] = field(default_factory=list)

    def names(self) -> set[str]:
        """Return the names of all its files."""
        blocks = (name for *_, name in (*self.sources, *self.summaries))
        return {*self.index.values(), *self.passages.values(), *blocks}


def encode_pointer(pointer: Pointer) -> bytes:
    """Return a pointer as bytes, with a checksum."""
    fields = asdict(pointer)
    return json.dumps({"format": FORMAT, "sha256": _digest(fields), **fields}, indent=1).encode()


def decode_pointer(data: bytes, place: str) -> Pointer:
    """Return a pointer from bytes.

    Raises:
        CorpusDamagedError: They are damaged, or from a later version of Anabranch.
    """
    try:
        fields = json.loads(data)
        form, digest = fields.pop("format"), fields.pop("sha256")
        whole = digest == _digest(fields)
        pointer = Pointer(fields["corpus"], tuple(_release(each) for each in fields["releases"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        form, whole, pointer = FORMAT, False, None
    if form != FORMAT:
        msg = f"What is published in {place} has another format."
        raise CorpusDamagedError(msg, hint="Use the same version of Anabranch on both sides.")
    if not whole or pointer is None:
        msg = f"The pointer in {place} is not what was written."
        raise CorpusDamagedError(msg, hint=f"Remove {POINTER} from there, and publish the corpus again.")
    return pointer


def encode_catalog(catalog: Catalog) -> bytes:
    """Return a catalog as bytes; its checksum is in its name."""
    return json.dumps(asdict(catalog)).encode()


def read_catalog(file: Path) -> Catalog:
    """Return a catalog whose checksum was verified."""
    fields = json.loads(file.read_bytes())
    for name in ("sources", "summaries"):
        fields[name] = [tuple(each) for each in fields.get(name, [])]
    return Catalog(**fields)


def _release(fields: dict[str, Any]) -> Release:
    return Release(**{**fields, "order": tuple(fields["order"]), "dropped": tuple(fields["dropped"])})


def _digest(fields: dict[str, Any]) -> str:
    return digest_of_bytes(json.dumps(fields, sort_keys=True).encode())

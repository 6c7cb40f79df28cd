"""What a corpus holds, without opening it for searches: no model is loaded, nothing is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import CorpusDamagedError
from anabranch.store.connections import reading
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_facts import counts_in, facts_in
from anabranch.store.corpus_folder import must_exist, size_of
from anabranch.store.index.manifest import Manifest, current, read_manifest

COUNTED = ("documents", "chunks", "leaves", "tokens")


@dataclass(frozen=True, slots=True)
class Overview:
    """What a corpus holds.

    Attributes:
        generation: Number of the current index, 0 where there is none.
        is_current: Whether the index is one of the documents as they are.
        bytes: Of all files.
        problem: Why the index cannot be used, as far as its manifest tells; `verify` looks at its files.
    """

    path: str
    generation: int
    documents: int
    chunks: int
    leaves: int
    tokens: int
    embedder: str
    dimension: int
    bytes: int
    is_current: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """One document of a list."""

    source: str
    title: str
    key: str
    access: list[str]
    tokens: int
    chunks: int


def overview(corpus: StrPath) -> Overview:
    """Count what is in a corpus, whatever its access tags: this is its owner's view.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    folder = must_exist(corpus)
    manifest, problem = _index(folder)
    with reading(folder) as connection:
        meta = facts_in(connection)
        is_current = manifest is not None and manifest.changes == int(meta.get("changes", 0))
        # Already counted, where the index is of the present documents: to count a million chunks takes a while.
        known = {name: getattr(manifest, name) for name in COUNTED} if is_current else None
        counts = known or counts_in(connection)
    return Overview(
        path=str(folder),
        generation=manifest.number if manifest else 0,
        **counts,
        embedder=meta.get("embedder", ""),
        dimension=manifest.dimension if manifest else 0,
        bytes=size_of(folder),
        is_current=is_current or not (manifest or counts["leaves"]),
        problem=problem,
    )


def documents(corpus: StrPath, most: int | None = None) -> Iterator[Listed]:
    """Yield the documents of a corpus by source, whatever their access tags.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    folder = must_exist(corpus)
    sql = (
        "SELECT source, title, key, access, tokens, (SELECT count(*) FROM chunks c WHERE c.doc_id = d.doc_id) "
        "FROM documents d ORDER BY source LIMIT ?"
    )
    with reading(folder) as connection:
        for source, title, key, access, tokens, chunks in connection.execute(sql, (-1 if most is None else most,)):
            yield Listed(source, title, key, json.loads(access), tokens, chunks)


def _index(folder: Path) -> tuple[Manifest | None, str]:
    try:
        name = current(folder)
        return (read_manifest(folder, name), "") if name is not None else (None, "")
    except CorpusDamagedError as error:
        # Told and not raised: whoever looks at what a damaged corpus holds is about to do something about it.
        return None, error.message

"""The derived indexes: immutable folders made from the database, and one pointer that says which is current.

::

    corpus/
      corpus.db                  the truth
      CURRENT                    name of the current generation, swapped by an atomic rename
      generations/000007-1f3a/   manifest.json  dense.faiss  bm25/  rows.npy  row_documents.npy  documents.json

A reader that has opened a generation keeps it, whatever happens to the pointer; a few older generations stay for those.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.corpus import bm25, dense
from anabranch.corpus.analysis import Analyser, analyser
from anabranch.corpus.rows import embedded_text
from anabranch.corpus.truth import Truth
from anabranch.errors import CorpusDamagedError
from anabranch.models.embedding import Vectors

SCHEMA = 1
KEPT = 3
"""Generations that stay on disk: the current one, and those that readers may still hold."""

BLOCK = 4_096
TERMS_BLOCK = 500
_NAME = re.compile(r"\d{6,}-[0-9a-f]{4}")
REBUILD = "Run `anabranch corpus rebuild`; the documents themselves are safe in corpus.db."


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation holds."""

    name: str
    number: int
    embedder: str
    spec: str
    base_url: str
    dimension: int
    language: str
    analyser: str
    changes: int
    documents: int
    leaves: int
    chunks: int
    tokens: int
    files: dict[str, dict[str, Any]]


def current(folder: Path) -> str | None:
    """Return the name of the current generation, None where there is none yet."""
    try:
        name = (folder / "CURRENT").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{folder / 'CURRENT'} cannot be read: {error}"
        raise CorpusDamagedError(msg, hint=REBUILD) from error
    if not _NAME.fullmatch(name):
        msg = f"{folder / 'CURRENT'} names no index: {name[:40]!r}."
        raise CorpusDamagedError(msg, hint=REBUILD)
    return name


def read_manifest(folder: Path, name: str) -> Manifest:
    """Read what a generation holds, and check that each of its files is there in full.

    Raises:
        CorpusDamagedError: A file is missing or has another size.
    """
    home = folder / "generations" / name
    try:
        facts = json.loads((home / "manifest.json").read_text(encoding="utf-8"))
        if facts.pop("schema") != SCHEMA:
            msg = f"The index {name} has another format."
            raise CorpusDamagedError(msg, hint=REBUILD)
        manifest = Manifest(**facts)
        for path, facts_of_file in manifest.files.items():
            if (home / path).stat().st_size != facts_of_file["size"]:
                msg = f"The index file {path} of {name} has another size than it was written with."
                raise CorpusDamagedError(msg, hint=REBUILD)
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, CorpusDamagedError):
            raise
        msg = f"The index {name} cannot be opened: {error}"
        raise CorpusDamagedError(msg, hint=REBUILD) from error
    return manifest


def out_of_date(folder: Path, truth: Truth) -> bool:
    """Tell whether the current index is not one of the documents as they are, or cannot be read."""
    try:
        name = current(folder)
        if name is None:
            return truth.one("SELECT 1 FROM chunks LIMIT 1") is not None
        return read_manifest(folder, name).changes != truth.changes
    except CorpusDamagedError:
        return True


def damage(folder: Path, manifest: Manifest) -> list[str]:
    """Return what is wrong with a generation's files, by checksum."""
    home = folder / "generations" / manifest.name
    return [
        f"{path} of {manifest.name} is not what was written"
        for path, facts in manifest.files.items()
        if not (home / path).is_file() or _sha256(home / path) != facts["sha256"]
    ]


def build(folder: Path, truth: Truth, *, progress: Callable[[int, int], None] | None = None) -> Manifest | None:
    """Make a new generation from the database and point CURRENT at it; an empty corpus has none.

    Args:
        folder: The corpus.
        truth: Its database; a leaf without a vector is an error, not a gap.
        progress: Told leaves done and leaves in all.
    """
    if not truth.one("SELECT count(*) FROM chunks WHERE level = 2")[0]:
        (folder / "CURRENT").unlink(missing_ok=True)
        return None
    embedder = truth.meta("embedder") or ""
    # From the vectors themselves: asking a hosted embedder would need its key and its server.
    dimension = (truth.one("SELECT length(vector) FROM vectors WHERE embedder = ? LIMIT 1", embedder) or (0,))[0] // 4
    number = _next_number(folder)
    name = f"{number:06d}-{secrets.token_hex(2)}"
    home = folder / "generations" / f".{name}"
    shutil.rmtree(home, ignore_errors=True)
    (home / "bm25").mkdir(parents=True)
    counts = _write_indexes(home, truth, embedder, dimension, progress)
    files = {
        path.relative_to(home).as_posix(): {"size": path.stat().st_size, "sha256": _sha256(path)}
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }
    manifest = Manifest(
        name=name, number=number, embedder=embedder, spec=truth.meta("spec") or "",
        base_url=truth.meta("base_url") or "", dimension=dimension, changes=truth.changes,
        language=truth.meta("language") or "english", analyser=analyser(truth.meta("language") or "english").name,
        files=files, **counts,
    )  # fmt: skip
    facts = {"schema": SCHEMA, **{field: getattr(manifest, field) for field in Manifest.__slots__}}
    _write(home / "manifest.json", json.dumps(facts, indent=1))
    for path in [*home.rglob("*"), home]:
        _sync(path)
    home.rename(folder / "generations" / name)
    _sync(folder / "generations")
    _point(folder, name)
    _sweep(folder, name)
    return manifest


def _next_number(folder: Path) -> int:
    """Return a number above every generation on disk, whatever the pointer says."""
    homes = (folder / "generations").iterdir() if (folder / "generations").is_dir() else ()
    return max((int(home.name.split("-")[0]) for home in homes if _NAME.fullmatch(home.name)), default=0) + 1


def _write_indexes(
    home: Path, truth: Truth, embedder: str, dimension: int, progress: Callable[[int, int], None] | None
) -> dict[str, int]:
    (total,) = truth.one("SELECT count(*) FROM chunks WHERE level = 2")
    (chunks,) = truth.one("SELECT count(*) FROM chunks")
    (tokens,) = truth.one("SELECT coalesce(sum(tokens), 0) FROM documents")
    documents = [row[0] for row in truth.connection.execute("SELECT doc_id FROM documents ORDER BY rowid")]
    place = {doc_id: index for index, doc_id in enumerate(documents)}
    ids: list[str] = []
    owners: list[int] = []
    words = analyser(truth.meta("language") or "english")

    def terms() -> Iterator[list[str]]:
        sql = (
            "SELECT c.chunk_id, c.doc_id, c.vector_key, d.title, c.heading, c.text FROM chunks c "
            "JOIN documents d USING (doc_id) WHERE c.level = 2 ORDER BY d.rowid, c.start"
        )
        cursor = truth.connection.execute(sql)
        while rows := cursor.fetchmany(TERMS_BLOCK):
            ids.extend(row[0] for row in rows)
            owners.extend(place[row[1]] for row in rows)
            yield from _terms(truth, words, [(key, embedded_text(*parts)) for _, _, key, *parts in rows])
            if progress is not None:
                progress(len(ids), total)

    bm25.build(home / "bm25", terms())
    dense.build(home / "dense.faiss", _vectors(truth, embedder, dimension), dimension)
    np.save(home / "rows.npy", np.array(ids, dtype="S16"))
    np.save(home / "row_documents.npy", np.array(owners, dtype=np.int32))
    _write(home / "documents.json", json.dumps(documents))
    return {"documents": len(documents), "leaves": len(ids), "chunks": chunks, "tokens": tokens}


def _terms(truth: Truth, words: Analyser, texts: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return the terms of texts, from the database where they were analysed before."""
    known = truth.terms_of([key for key, _ in texts], words.name)
    fresh = {key: " ".join(words.terms(text)) for key, text in texts if key not in known}
    if fresh:
        truth.add_terms(fresh, words.name)
    known |= fresh
    return [known[key].split() for key, _ in texts]


def _vectors(truth: Truth, embedder: str, dimension: int) -> Iterator[Vectors]:
    sql = (
        "SELECT v.vector FROM chunks c JOIN documents d USING (doc_id) "
        "LEFT JOIN vectors v ON v.vector_key = c.vector_key AND v.embedder = ? "
        "WHERE c.level = 2 ORDER BY d.rowid, c.start"
    )
    cursor = truth.connection.execute(sql, (embedder,))
    while rows := cursor.fetchmany(BLOCK):
        if any(row[0] is None or len(row[0]) != 4 * dimension for row in rows):
            msg = "A passage has no vector of the corpus's embedder."
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus rebuild`, which embeds what is missing.")
        yield np.frombuffer(b"".join(row[0] for row in rows), dtype=np.float32).reshape(len(rows), dimension)


def _point(folder: Path, name: str) -> None:
    fresh = folder / ".CURRENT"
    _write(fresh, name)
    _sync(fresh)
    fresh.replace(folder / "CURRENT")
    _sync(folder)


def _sweep(folder: Path, name: str) -> None:
    """Remove what nobody can be reading: all but the newest generations, and builds that were killed."""
    homes = sorted((folder / "generations").iterdir(), reverse=True)
    whole = [home for home in homes if not home.name.startswith(".")]
    for home in [home for home in homes if home.name.startswith(".")] + whole[KEPT:]:
        if home.name != name:
            shutil.rmtree(home, ignore_errors=True)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _sync(path: Path) -> None:
    """Force a file or folder to the disk before the pointer names it."""
    if os.name == "nt" and path.is_dir():
        return  # Windows does not open folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

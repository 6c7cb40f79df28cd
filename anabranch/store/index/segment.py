"""One segment: an immutable folder with both indexes of some documents, and the owner of each row.

::

    segments/7c1f09aa/
      segment.json                size and SHA-256 of each file below, and of its first bytes
      rows.npy                    chunk id of each row
      owners.npy                  place in documents.npy of each row's document
      documents.npy               number, birth and first row of each document, ascending in number and row
      bm25.*.npy                  inverted file
      dense.N.faiss codes.N.faiss vectors, and their codes where there are many
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import IndexDamagedError
from anabranch.store.index.dense import open_shards
from anabranch.store.index.mmap_file import map_array
from anabranch.store.index.postings import Postings

_ON_WINDOWS = os.name == "nt"
# Increased with any change of the files: an index of another format counts as damaged and is rebuilt from the database.
FORMAT = 4
HEAD = 1 << 18
"""Bytes of each file that are checked on opening: they include the header that describes the rest."""

REBUILD = "Run `anabranch corpus rebuild`; the documents themselves are safe in corpus.db."


def damage_error(message: str) -> IndexDamagedError:
    """Return the error for a damaged file."""
    return IndexDamagedError(message, hint=REBUILD)


class Segment:
    """One opened segment; nothing is read into memory that can be mapped.

    Attributes:
        name: Name of its folder.
        ids: Shape (rows,), chunk ids of 16 bytes.
        owners: Shape (rows,), places in `documents`.
        documents: Shape (documents, 3): number, birth, first row; ascending.
        postings: Its inverted file.
        shards: Its vectors.
    """

    def __init__(self, folder: Path) -> None:
        """Open a segment.

        Raises:
            IndexDamagedError: A file is missing or is not what it should be.
        """
        self.name = folder.name
        self.folder = folder
        self.files = read_facts(folder)
        try:
            self.ids: NDArray[np.bytes_] = map_array(folder / "rows.npy")
            self.owners: NDArray[np.int32] = map_array(folder / "owners.npy")
            self.documents: NDArray[np.int64] = map_array(folder / "documents.npy")
            self.postings = Postings(folder)
            self.shards = open_shards(folder)
        except (OSError, ValueError, RuntimeError) as error:
            raise damage_error(f"The index segment {folder.name} cannot be opened: {error}") from error
        if sum(shard.rows for shard in self.shards) != self.rows:
            raise damage_error(f"The index segment {folder.name} does not have one vector per row.")

    @property
    def rows(self) -> int:
        """How many leaves it holds, dead ones included."""
        return len(self.ids)

    def rows_of(self, places: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return all rows of the documents at these places, which are ascending."""
        bounds = np.append(self.documents[:, 2], self.rows)
        starts, ends = bounds[places].tolist(), bounds[places + 1].tolist()
        parts = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
        return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)

    def places_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of the documents with these numbers, ascending; found by bisection."""
        wanted = np.unique(numbers)
        known = self.documents[:, 0]
        # A number past the last document would be found one place behind the end.
        places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.asarray(places[known[places] == wanted], dtype=np.int64)

    def damage(self) -> list[str]:
        """Return what is wrong with its files, by checksum; reads all of them."""
        found = ((path, self._state(path, facts["sha256"])) for path, facts in self.files.items())
        return [f"{path} of segment {self.name} is {state}" for path, state in found if state]

    def is_whole(self) -> bool:
        """Tell whether all its files exist: a segment that no generation names is removed."""
        return all((self.folder / path).exists() for path in (*self.files, "segment.json"))

    def _state(self, path: str, expected: str) -> str:
        try:
            return "" if sha256(self.folder / path) == expected else "not what was written"
        except FileNotFoundError:
            return "missing"


def read_facts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return size and checksum of each file of a segment after checking the size and beginning of each.

    Raises:
        IndexDamagedError: A file is missing, has another size or another beginning.
    """
    try:
        facts = json.loads((folder / "segment.json").read_text(encoding="utf-8"))
        if facts["format"] != FORMAT:
            raise damage_error(f"The index segment {folder.name} has another format.")
        files: dict[str, dict[str, Any]] = facts["files"]
        for path, expected in files.items():
            # Reading a mapped file behind its end kills the process (SIGBUS), so check its size.
            if (folder / path).stat().st_size != expected["size"] or _head(folder / path) != expected["head"]:
                raise damage_error(f"The index file {path} of segment {folder.name} is not what was written.")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damage_error(f"The index segment {folder.name} cannot be opened: {error}") from error
    return files


def seal(folder: Path) -> None:
    """Write size and checksum of each file of a finished segment, and sync all of it."""
    # The list of files comes last: a segment without one is unfinished and is swept.
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    files = {path.name: {"size": path.stat().st_size, "sha256": sha256(path), "head": _head(path)} for path in paths}
    (folder / "segment.json").write_text(json.dumps({"format": FORMAT, "files": files}, indent=1), encoding="utf-8")
    for path in [*paths, folder / "segment.json", folder, folder.parent]:
        sync(path)


def sync(path: Path) -> None:
    """Force a file or folder to the disk before anything names it."""
    if _ON_WINDOWS and path.is_dir():
        return  # Windows cannot open folders
    # Windows syncs only what is open for writing.
    descriptor = os.open(path, os.O_RDWR if _ON_WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.sha256(file.read(HEAD)).hexdigest()


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

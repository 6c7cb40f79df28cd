"""A generation: which segments make up the index, and which of their rows are dead. Immutable, like the segments.

::

    corpus/
      corpus.db                  the database
      CURRENT                    name of the current generation, swapped by an atomic rename
      generations/000007-1f3a/   manifest.json  dead/SEGMENT.npy
      segments/7c1f09aa/         see `anabranch.store.index.segment`

A reader that has opened a generation keeps it, whatever happens to the pointer: mapped files stay readable until it
closes them, even after removal.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import IndexDamagedError
from anabranch.store.index.mmap_file import map_array, save
from anabranch.store.index.segment import damage_error, sha256, sync

SCHEMA = 4
KEPT = 2
"""Generations that stay on disk: the current one, and one that a reader may be about to open."""

_NAME = re.compile(r"\d{6,}-[0-9a-f]{4}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation holds.

    Attributes:
        changes: How often the documents had changed when it was made.
        leaves: Those that are alive.
        segments: Names of its segments, in row order.
        files: Size and checksum of each file of its own and of each segment's `segment.json`.
    """

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
    segments: tuple[str, ...]
    files: dict[str, dict[str, Any]]


Dead = dict[str, NDArray[np.int64]]
"""The dead rows of each segment by its name, ascending."""

NONE_DEAD: NDArray[np.int64] = np.zeros(0, np.int64)


def current_name(folder: Path) -> str | None:
    """Return the name of the current generation, None where there is none yet."""
    try:
        name = (folder / "CURRENT").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise damage_error(f"{folder / 'CURRENT'} cannot be read: {error}") from error
    if not _NAME.fullmatch(name):
        raise damage_error(f"{folder / 'CURRENT'} names no index: {name[:40]!r}.")
    return name


def home_of(folder: Path, name: str) -> Path:
    """Return the folder of a generation."""
    return folder / "generations" / name


def segment_home(folder: Path, name: str) -> Path:
    """Return the folder of a segment."""
    return folder / "segments" / name


def read_manifest(folder: Path, name: str) -> Manifest:
    """Read what a generation holds, and check the files that are its own.

    Raises:
        IndexDamagedError: A file is missing or is not what was written.
    """
    home = home_of(folder, name)
    try:
        facts = json.loads((home / "manifest.json").read_text(encoding="utf-8"))
        if facts.pop("schema") != SCHEMA:
            raise damage_error(f"The index {name} has another format.")
        # A damaged manifest may still be valid JSON and name other segments or none.
        if facts.pop("sha256") != _digest(facts):
            raise damage_error(f"The manifest of the index {name} is not what was written.")
        manifest = Manifest(**{**facts, "segments": tuple(facts["segments"])})
        for path, expected in manifest.files.items():
            if sha256(folder / path) != expected["sha256"]:
                raise damage_error(f"The index file {path} is not what was written.")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damage_error(f"The index {name} cannot be opened: {error}") from error
    return manifest


def read_dead(folder: Path, manifest: Manifest) -> Dead:
    """Return the dead rows of each segment of a generation.

    Raises:
        IndexDamagedError: A file is gone; a generation may be swept while being opened.
    """
    dead = {}
    for segment in manifest.segments:
        file = home_of(Path(), manifest.name) / "dead" / f"{segment}.npy"
        # The manifest says whether a segment has dead rows: a missing file must not revive them.
        dead[segment] = _read_rows(folder, file) if file.as_posix() in manifest.files else NONE_DEAD
    return dead


def _read_rows(folder: Path, file: Path) -> NDArray[np.int64]:
    try:
        return np.asarray(map_array(folder / file))
    except (OSError, ValueError) as error:
        raise damage_error(f"The index file {file} cannot be read: {error}") from error


def write_generation(folder: Path, manifest: Manifest, dead: Dead) -> Manifest:
    """Write a generation and point CURRENT at it.

    Returns:
        The manifest as it was written.
    """
    # Write under a name that no reader looks for, and rename it when all of it is on the disk.
    home = home_of(folder, f".{manifest.name}")
    (home / "dead").mkdir(parents=True)
    for segment, rows in dead.items():
        if len(rows):
            save(home / "dead" / f"{segment}.npy", rows)
    own = {path: path.relative_to(home) for path in sorted(home.rglob("*")) if path.is_file()}
    final = home_of(Path(), manifest.name)
    files = {(final / name).as_posix(): _facts(path) for path, name in own.items()}
    for segment in manifest.segments:
        path = segment_home(folder, segment) / "segment.json"
        files[path.relative_to(folder).as_posix()] = _facts(path)
    written = replace(manifest, files=files)
    fields = asdict(written)
    text = json.dumps({"schema": SCHEMA, "sha256": _digest(fields), **fields}, indent=1)
    (home / "manifest.json").write_text(text, encoding="utf-8")
    # Everything is synced before anything names it, so that a power cut leaves a valid state. The pointer comes last.
    for path in [*home.rglob("*"), home]:
        sync(path)
    home.rename(home_of(folder, manifest.name))
    sync(folder / "generations")
    _point(folder, manifest.name)
    return written


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _facts(path: Path) -> dict[str, Any]:
    return {"size": path.stat().st_size, "sha256": sha256(path)}


def _point(folder: Path, name: str) -> None:
    fresh = folder / ".CURRENT"
    fresh.write_text(name, encoding="ascii")
    sync(fresh)
    # A rename replaces the pointer in one step: there is no moment at which a reader finds half a name.
    fresh.replace(folder / "CURRENT")
    sync(folder)


def next_number(folder: Path) -> int:
    """Return a number above every generation on disk, whatever the pointer says."""
    return (
        max((_number(home) for home in list_folder(folder / "generations") if _NAME.fullmatch(home.name)), default=0)
        + 1
    )


def _number(home: Path) -> int:
    return int(home.name.split("-")[0])


def sweep(folder: Path, keep: int = KEPT) -> None:
    """Remove unreferenced files; see `leftovers`."""
    for path in leftovers(folder, keep):
        if path.is_dir():
            # A file that a reader on Windows has open is removed by a later run.
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def leftovers(folder: Path, keep: int = KEPT) -> list[Path]:
    """Return older generations, segments that no other generation uses, and unfinished ones.

    This includes a pointer that was never put in place.

    Args:
        folder: The corpus.
        keep: How many generations stay, the newest ones; the current one does in any case.
    """
    homes = list_folder(folder / "generations")
    # Sort by number, not by time: clocks are set back, and copying changes times.
    whole = sorted((home for home in homes if _NAME.fullmatch(home.name)), key=_number, reverse=True)
    stays = {home.name for home in whole[:keep]}
    # If the pointer cannot be read, the newest generations stay, for it named one of them.
    with suppress(IndexDamagedError):
        stays.add(current_name(folder) or "")
    used = {name for home in whole if home.name in stays for name in _segments_of(home)}
    segments = [segment for segment in list_folder(folder / "segments") if segment.name not in used]
    pointer = folder / ".CURRENT"
    former = [home for home in homes if home.name not in stays]
    return [*former, *segments, *([pointer] if pointer.exists() else [])]


def list_folder(folder: Path) -> list[Path]:
    """Return what is in a folder, sorted; nothing where there is none."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _segments_of(home: Path) -> list[str]:
    try:
        return list(json.loads((home / "manifest.json").read_text(encoding="utf-8")).get("segments", ()))
    except (OSError, ValueError, AttributeError):
        return []

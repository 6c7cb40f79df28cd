"""Finds what runs that were killed left in a corpus's folder: no harm, but room on the disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import CorpusDamagedError
from anabranch.store.index.manifest import KEPT, current, home_of
from anabranch.store.maintenance.problem import Finding


def of_folder(folder: Path) -> Iterator[Finding]:
    """Yield the files and folders that nothing needs; asked while nobody writes."""
    for path in leftovers(folder):
        yield Finding("leftover", f"{path.relative_to(folder)} is left over ({_size(path):,} bytes)", is_remark=True)


def leftovers(folder: Path) -> list[Path]:
    """Return the generations and segments that nothing refers to, and a pointer that was never put in place."""
    homes = sorted(_below(folder / "generations"), reverse=True)
    try:
        now = current(folder)
    except CorpusDamagedError:
        now = None
    kept = [home for home in homes if not home.name.startswith(".")][:KEPT]
    stays = {home.name for home in kept} | {now}
    used = {name for stay in stays if stay for name in _segments(home_of(folder, stay))}
    pointer = folder / ".CURRENT"
    return [
        *(home for home in homes if home.name not in stays),
        *(segment for segment in sorted(_below(folder / "segments")) if segment.name not in used),
        *([pointer] if pointer.exists() else []),
    ]


def _below(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _segments(home: Path) -> list[str]:
    try:
        return list(json.loads((home / "manifest.json").read_text(encoding="utf-8")).get("segments", ()))
    except (OSError, ValueError, AttributeError):
        return []


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())

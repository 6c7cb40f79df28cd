"""Three of Anabranch's packages have short names; find whatever else on sys.path has one of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

import anabranch

NAMES = ("graph", "nodes", "prompts")


def shadows(path: Sequence[str] | None = None) -> Iterator[tuple[str, str, bool]]:
    """Yield, for every other package of one of the names, its name, its place, and whether it comes before ours.

    Args:
        path: Folders to look in, in order; sys.path by default.
    """
    ours = Path(anabranch.__file__).resolve().parent.parent
    folders = list(dict.fromkeys(sys.path if path is None else path))
    for name in NAMES:
        ours_seen = False
        for folder in folders:
            place = _place(name, folder)
            if place is None:
                continue
            if place.parent == ours:
                ours_seen = True
            else:
                yield name, str(place), not ours_seen


def _place(name: str, folder: str) -> Path | None:
    """Return the package folder or module file of that name in one folder of the path."""
    spec = PathFinder.find_spec(name, [folder or "."])
    if spec is None or spec.origin is None:  # a bare folder is a namespace package, which any real one beats
        return None
    origin = Path(spec.origin).resolve()
    return origin.parent if origin.name == "__init__.py" else origin

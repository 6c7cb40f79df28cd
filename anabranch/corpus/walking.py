"""Find the files to read and give each the name that people will see in citations."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import UserError


@dataclass(frozen=True, slots=True)
class Found:
    """A file, and what to call it.

    Attributes:
        path: Where it lies.
        source: Its path below the folder that was given, with `/` between the parts, or the name of a file that was
            given itself. Where two of several paths would give the same name, their folders' names come in front.
    """

    path: Path
    source: str


def walk(paths: Sequence[Path], skip: Collection[Path] = ()) -> Iterator[Found]:
    """Yield the files at and below `paths`, in sorted order per path, each file once.

    Hidden files and folders (leading dot) below a folder are left out, and so is everything in `skip` (the corpus
    itself). A symbolic link is followed only to a place inside the folder given, and yields no file that the folder
    shows under its own name. Every other file is yielded, whatever its kind, and so is a folder that may not be
    opened: reading them says why they cannot be used.

    Raises:
        UserError: One of `paths` does not exist; before anything is yielded.
    """
    for path in paths:
        if not path.exists():
            raise UserError(f"There is nothing at {str(path)!r}.", hint="Check the path; it counts from where you are.")
    barred = {path.resolve() for path in skip}
    seen: set[Path] = set()
    groups: list[tuple[Path, list[Path]]] = []
    for path in paths:
        files = [path] if path.is_file() else _below(path, barred)
        fresh = [file for file in files if file.resolve() not in seen and file.resolve() not in barred]
        seen.update(file.resolve() for file in fresh)
        groups.append((path, fresh))
    yield from _named(groups)


def _below(root: Path, barred: Collection[Path]) -> list[Path]:
    """Return the files below a folder, sorted; those reached through a link only if nothing else reaches them."""
    plain: list[Path] = []
    linked: list[Path] = []
    for path, through_link in _scan(root, barred):
        (linked if through_link else plain).append(path)
    known = {path.resolve() for path in plain}
    for path in linked:
        if path.resolve() not in known:
            known.add(path.resolve())
            plain.append(path)
    return sorted(plain, key=lambda path: path.relative_to(root).parts)


def _scan(root: Path, barred: Collection[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield each file below `root` and whether a symbolic link leads to it; a loop, because folders nest deep."""
    inside = root.resolve()
    followed = {inside}  # links may lead round in circles: each place is entered through a link once
    folders = [(root, False)]
    while folders:
        folder, is_linked = folders.pop()
        names = _names(folder)
        if names is None:
            yield folder, is_linked
            continue
        for path in (folder / name for name in names if not name.startswith(".")):
            through_link, real = is_linked or path.is_symlink(), path.resolve()
            if real in barred or (through_link and not real.is_relative_to(inside)):
                continue
            if path.is_file():
                yield path, through_link
            elif path.is_dir() and not (through_link and real in followed):
                folders.append((path, through_link))
                if through_link:
                    followed.add(real)


def _names(folder: Path) -> list[str] | None:
    try:
        return sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return None


def _named(groups: Sequence[tuple[Path, Sequence[Path]]]) -> Iterator[Found]:
    depths = [0] * len(groups)
    names = [_sources(root, files, 0) for root, files in groups]
    while True:
        times = Counter(name for group in names for name in group)
        clashing = [at for at, group in enumerate(names) if any(times[name] > 1 for name in group)]
        deeper = [at for at in clashing if depths[at] < len(_folders(groups[at][0]))]
        if not deeper:
            break
        for at in deeper:
            depths[at] += 1
            names[at] = _sources(*groups[at], depths[at])
    for (_, files), sources in zip(groups, names, strict=True):
        yield from (Found(path, source) for path, source in zip(files, sources, strict=True))


def _sources(root: Path, files: Sequence[Path], depth: int) -> list[str]:
    folders = _folders(root)
    front = folders[len(folders) - depth :]
    name = root.name or "".join(folders[-1:])
    below = ([name] if path == root else path.relative_to(root).parts for path in files)
    return ["/".join((*front, *parts)) for parts in below]


def _folders(root: Path) -> tuple[str, ...]:
    """Return the names of the folders that may come in front: down to the folder given, or to a file's own folder."""
    absolute = Path(os.path.abspath(root))  # noqa: PTH100  resolve() would put a link's target in the name
    return (absolute if root.is_dir() else absolute.parent).parts[1:]

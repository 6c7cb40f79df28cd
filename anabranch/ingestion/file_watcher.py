"""Notices when files change, and waits until they have been left alone for a moment."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from watchfiles import Change, watch

from anabranch.errors import OperationError
from anabranch.ingestion.directory_walk import is_counted, must_be_there
from anabranch.store.corpus_address import StrPath, paths_of

SETTLE = 0.4
"""Seconds without a change after which files count as written: an editor writes, renames and deletes in one go."""

# A log file is written to all the time; without a bound its folder would never be taken in.
LONGEST = 10.0
"""Seconds after which changes are told of although there are more."""

TICK = 0.5
"""Seconds between looks at what the operating system does not tell of."""

TEMPORARY = ("*~", "~$*", "#*#", "*.tmp", "*.temp", "*.part", "*.crdownload", "*___jb_???___", "4913", "*.sb-*-*")
"""What editors, office programs and browsers write beside a file while they are at it."""

Stamp = tuple[int, ...] | None


def changes(
    paths: StrPath | Iterable[StrPath],
    *,
    skip: StrPath | Iterable[StrPath] = (),
    told: Callable[[str], None] | None = None,
    settle: float = SETTLE,
) -> Iterator[set[Path]]:
    """Yield what has changed at or below `paths`, whenever something has; ends only with what ends the program.

    Yields also, most often an empty set, as soon as everything is watched: at the start, and when a folder has come
    back after it was gone. Anything may have changed before that, and nothing that changes afterwards is missed.

    Args:
        paths: Files, and folders with everything below them. Hidden files and those of `TEMPORARY` count for nothing.
        skip: Left out with all that is below them.
        told: Told of a path that is gone.
        settle: Seconds without a change after which files count as written.

    Raises:
        UserError: One of `paths` does not exist at the start.
        OperationError: The operating system cannot watch so many folders.
    """
    wanted = [Path(path).absolute() for path in paths_of(paths)]
    must_be_there(wanted)
    folders, files = [path for path in wanted if path.is_dir()], [path for path in wanted if not path.is_dir()]
    filtered = _Filter(folders, [Path(path) for path in paths_of(skip)])
    singles = _Files(files)
    while True:
        identities = {folder: _identity(folder) for folder in folders}
        yield from _until_gone(identities, singles, filtered, settle)
        _await_return(identities, told)


class _Filter:
    """Tells which changes count."""

    def __init__(self, folders: Sequence[Path], skip: Sequence[Path]) -> None:
        self._folders = folders
        self._skip = [*(path.resolve() for path in skip), *(path.absolute() for path in skip)]

    def __call__(self, _: Change, changed: str) -> bool:
        path = Path(changed)
        if any(path.is_relative_to(skipped) for skipped in self._skip):
            return False
        folder = next((folder for folder in self._folders if path.is_relative_to(folder)), path.parent)
        names = path.relative_to(folder).parts
        if not all(map(is_counted, names)):
            return False
        return not names or not any(fnmatch.fnmatch(names[-1], pattern) for pattern in TEMPORARY)


def _await_return(identities: Mapping[Path, Stamp], told: Callable[[str], None] | None) -> None:
    """Wait until all folders are there: a drive may be unplugged, a folder be replaced by another one."""
    missing = [folder for folder, identity in identities.items() if _is_gone(folder, identity)]
    if missing and told is not None:
        told(f"{', '.join(map(str, missing))}: gone; nothing is done until it is back.")
    while any(_is_gone(folder, identities[folder]) for folder in missing):
        time.sleep(TICK)


def _is_gone(folder: Path, identity: Stamp) -> bool:
    """Tell whether a folder is gone; what a drive leaves where it was mounted is another folder, and an empty one."""
    try:
        return _identity(folder) != identity and not any(folder.iterdir())
    except OSError:
        return True


def _until_gone(
    identities: Mapping[Path, Stamp], singles: _Files, filtered: _Filter, settle: float
) -> Iterator[set[Path]]:
    """Yield changes until one of the folders is gone or is another one; first once everything is watched."""
    is_first = True
    for found in _ticks(list(identities), filtered, settle):
        if any(_identity(folder) != identity for folder, identity in identities.items()):
            return  # before anybody looks into a folder that is not the one it was
        changed = {Path(name) for _, name in found} | singles.changed()
        if changed or is_first:
            yield changed
        is_first = False


def _ticks(folders: Sequence[Path], filtered: _Filter, settle: float) -> Iterator[set[tuple[Change, str]]]:
    """Yield changes below folders, or nothing, at least once a tick."""
    if not folders:
        while True:
            time.sleep(TICK)
            yield set()
    try:
        yield from watch(
            *folders,
            watch_filter=filtered,
            debounce=int(LONGEST * 1000),
            step=int(settle * 1000),
            rust_timeout=int(TICK * 1000),
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
    except FileNotFoundError:  # gone between two looks
        time.sleep(TICK)
    except (OSError, RuntimeError) as error:
        msg = f"The folders cannot be watched: {error}"
        hint = (
            "Raise the number of watches (on Linux fs.inotify.max_user_watches), or set WATCHFILES_FORCE_POLLING=true."
        )
        raise OperationError(msg, hint=hint) from error


class _Files:
    """Single files: to watch their folders would be to watch everything below those."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._told: dict[Path, Stamp] = {file: _stamp(file) for file in files}
        self._seen = dict(self._told)

    def changed(self) -> set[Path]:
        """Return the files that have changed and are since the last look as they were then."""
        changed = set()
        for file, before in self._seen.items():
            now = _stamp(file)
            if now == before and now != self._told[file]:
                self._told[file] = now
                changed.add(file)
            self._seen[file] = now
        return changed


def _stamp(path: Path) -> Stamp:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _identity(folder: Path) -> Stamp:
    stamp = _stamp(folder)
    return stamp[:2] if stamp is not None else None

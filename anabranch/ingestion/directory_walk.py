"""Find the files to read, and give each the name that citations show."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.errors import UserError
from anabranch.ingestion.ingest_root import IngestRoot
from anabranch.readers.corpus_marker import is_corpus, names_in
from anabranch.readers.documentation_site import site_tool
from anabranch.store.corpus_folder import suggest_own_folder
from anabranch.text.normalization import storable

_THREADS = (".threads.db", ".threads.db-wal", ".threads.db-shm", ".threads.db-journal")
"""Endings of files with conversations, which lie beside a corpus."""

_LEFT_OUT = frozenset({"node_modules", "__pycache__"})
"""Names of folders with generated files."""

_MAILDIR = frozenset({"cur", "new", "tmp"})
"""The folders of a Maildir; messages in `tmp` are not delivered yet (maildir(5))."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file and its names.

    Attributes:
        path: Its path.
        source: The name in citations: the path below the given folder, with `/` between the parts, or the name of a
            file that was given itself. Names that would be equal get their folders' names in front. For a web page its
            address, for a member of an archive `archive.zip!/member`.
        identity: The key in the corpus, if that is not the path: an address, or the path of an archive, `!/` and the
            name of the member. Empty for a file.
        is_copy: Whether `path` is a copy made for this run, to be deleted once it has been read (`discard`).
        metadata: Facts for its documents in addition to those from the reader.
        real: Its resolved path when it was found; None if it was not resolved.
        version: The version that its service reports; empty without one.
        fetch: Makes the copy and returns its version, empty if unknown; None if the copy exists already.
    """

    path: Path
    source: str
    identity: str = ""
    is_copy: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    real: Path | None = field(default=None, compare=False)
    version: str = ""
    fetch: Callable[[], str] | None = field(default=None, compare=False)

    @property
    def place(self) -> Path:
        """The resolved path if known, else the path."""
        return self.real or self.path

    def discard(self) -> None:
        """Delete the file and its folder if it is a copy; it may be gone already."""
        if self.is_copy:
            self.path.unlink(missing_ok=True)
            with suppress(OSError):
                self.path.parent.rmdir()


def identity_of(found: FoundFile) -> str:
    """Return the key of a file in the corpus."""
    return storable(found.identity or str(found.real or found.path.resolve()))


@dataclass(frozen=True, slots=True)
class Walked:
    """The result of a walk.

    Attributes:
        files: In the order of the given paths, sorted below each.
        folders: The given folders and those that links led to, resolved; a file below them that is not in `files` is
            gone.
    """

    files: tuple[FoundFile, ...]
    folders: tuple[Path, ...]


def survey(
    paths: Sequence[Path],
    skip: Collection[Path] = (),
    *,
    follow_links: bool = False,
    root: IngestRoot | None = None,
) -> Walked:
    """Find the files at and below `paths`, each file once.

    Hidden files and folders (leading dot) below a folder are left out, and so are the `tmp` of a Maildir and everything
    in `skip` (the corpus itself). Files of all kinds are found, and folders that may not be opened: reading them says
    why they cannot be used.

    Args:
        paths: Files and folders.
        skip: Left out with all that is below them.
        follow_links: Follow symbolic links to places outside the folder given. Otherwise a link is followed only to a
            place inside. In both cases it yields no file that the folder shows under its own name.
        root: The folder to which `paths` are relative, and which files in it may be read; None for no limits. An
            uploaded file that is given by itself is named by its path below the user's uploads.

    Raises:
        UserError: One of `paths` does not exist, is a corpus, is in `skip`, or is not what `root` admits.
    """
    top = root.own if root is not None else None
    placed = [_resolve(path, root) for path in paths]
    barred = {path.resolve() for path in skip}
    seen: set[Path] = set()
    groups: list[tuple[Path, list[tuple[Path, Path]]]] = []
    folders: dict[Path, None] = {}
    for given, (path, real) in zip(paths, placed, strict=True):
        if real in barred:
            raise UserError(f"{str(given)!r} cannot be ingested into itself.", hint=suggest_own_folder(given))
        if path.is_dir() and is_corpus(names_in(path) or []):
            msg = f"{str(given)!r} is a corpus, not a folder of documents."
            raise UserError(msg, hint="Move documents out of the folder of the corpus.")
        if path.is_file():
            files = [(path, real)]
        else:
            scan = _Scan(path, real, barred, follow_links=follow_links, root=root)
            files = _below(path, scan)
            folders |= dict.fromkeys(scan.entered)
        fresh = [(file, real) for file, real in files if real not in seen and real not in barred]
        seen.update(real for _, real in fresh)
        is_below = top is not None and path.is_file() and path.is_relative_to(top)
        groups.append((top if top is not None and is_below else path, fresh))
    return Walked(tuple(_assign_names(groups)), tuple(folders))


def _resolve(given: Path, root: IngestRoot | None) -> tuple[Path, Path]:
    """Return a path and its resolved form; errors name it as it was given."""
    path = given if root is None else root.folder / given
    try:
        # Resolved once: the file is later opened by this path, so that a new link has no effect.
        real, is_there = path.resolve(), path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # too long; a link to itself; a NUL
        why = error.strerror if isinstance(error, OSError) else error
        msg = f"The path {str(given)!r} cannot be read: {why}."
        raise UserError(msg, hint="Check the path and its permissions.") from error
    # Checked after links are resolved, because both `..` and links can lead out.
    if root is not None and not root.admits(real):
        raise _outside_error(given)
    if not is_there:
        raise UserError(
            f"There is nothing at {str(given)!r}.", hint="Check the path; it is relative to the current folder."
        )
    return path if root is None else real, real


def _outside_error(given: Path) -> UserError:
    """Return the error for a forbidden path, which does not reveal whether it exists."""
    msg = f"The path {str(given)!r} is outside the ingest root, or hidden or closed in it."
    hint = "Send files to /uploads, or ask the operator to set ANABRANCH_INGEST_ROOT; hidden files stay closed."
    return UserError(msg, hint=hint)


def _below(root: Path, scan: _Scan) -> list[tuple[Path, Path]]:
    """Return the files below a folder, sorted; a file behind a link only if it is not found otherwise."""
    plain: list[tuple[Path, Path]] = []
    linked: list[tuple[Path, Path]] = []
    for path, real, through_link in scan:
        (linked if through_link else plain).append((path, real))
    # A file's own name goes before a link to it, because citations show the name.
    known = {real for _, real in plain}
    for path, real in linked:
        if real not in known:
            known.add(real)
            plain.append((path, real))
    return sorted(plain, key=lambda file: file[0].relative_to(root).parts)


def _assign_names(groups: Sequence[tuple[Path, Sequence[tuple[Path, Path]]]]) -> Iterator[FoundFile]:
    depths = [0] * len(groups)
    names = [_sources(root, files, 0) for root, files in groups]
    # As few folder names as distinguish the files, and the same ones for all files of a folder.
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
        yield from (FoundFile(path, source, real=real) for (path, real), source in zip(files, sources, strict=True))


def _sources(root: Path, files: Sequence[tuple[Path, Path]], depth: int) -> list[str]:
    folders = _folders(root)
    front = folders[len(folders) - depth :]
    name = root.name or "".join(folders[-1:])
    below = ([name] if path == root else path.relative_to(root).parts for path, _ in files)
    return ["/".join((*front, *parts)) for parts in below]


def _folders(root: Path) -> tuple[str, ...]:
    """Return the names of the folders that may come in front: down to the folder given, or to a file's own folder."""
    absolute = Path(os.path.abspath(root))  # noqa: PTH100  resolve() would put a link's target in the name
    return (absolute if root.is_dir() else absolute.parent).parts[1:]


class _Scan:
    """Yields each file below a folder, its resolved path, and whether a symbolic link leads to it.

    Attributes:
        entered: The folder and those that links led to, resolved. Each is entered through a link only once, because
            links may form a circle.
    """

    def __init__(
        self, top: Path, real: Path, barred: Collection[Path], *, follow_links: bool, root: IngestRoot | None
    ) -> None:
        """Take the folder, its resolved path, what to leave out, whether links may lead out, and the ingest root."""
        self._top = top
        self._inside = real
        self._barred = barred
        self._follow_links = follow_links
        self._root = root
        self.entered: dict[Path, None] = {self._inside: None}

    def __iter__(self) -> Iterator[tuple[Path, Path, bool]]:
        """Yield files, and folders that are corpora, a site's own or closed; reading these reports the reason."""
        # The third value tells whether a link led here.
        folders = [(self._top, self._inside, False)]  # a loop rather than recursion, because folders nest deep
        while folders:
            folder, place, is_linked = folders.pop()
            names = names_in(folder)
            # The text in a corpus would be ingested a second time, without its tags.
            if names is None or is_corpus(names):
                yield folder, place, is_linked
                continue
            is_maildir = _MAILDIR.issubset(names)
            for name in filter(is_counted, names):
                if is_maildir and name == "tmp":
                    continue
                path = folder / name
                real = _real_place(path)
                if real is None:
                    continue
                # Compared with the folder's path, because somebody may have replaced the folder by a link.
                through_link = is_linked or real != place / name
                if not self._may_enter(real, through_link=through_link):
                    continue
                if _is_file(path) or site_tool(path):  # of which one row tells, in place of one for each font in it
                    yield path, real, through_link
                elif path.is_dir() and self._is_new(real, through_link=through_link):
                    folders.append((path, real, through_link))

    def _may_enter(self, real: Path, *, through_link: bool) -> bool:
        if self._root is not None and not self._root.admits(real):
            return False
        if not through_link:
            return real not in self._barred
        if any(real.is_relative_to(place) for place in self._barred):
            return False
        return self._follow_links or real.is_relative_to(self._inside)

    def _is_new(self, real: Path, *, through_link: bool) -> bool:
        if not through_link:
            return True
        is_new = real not in self.entered
        self.entered[real] = None
        return is_new


def is_counted(name: str) -> bool:
    """Tell by its name whether a file or a folder is ingested: it is neither hidden nor generated."""
    return not name.startswith(".") and name not in _LEFT_OUT and not name.endswith(_THREADS)


def _real_place(path: Path) -> Path | None:
    """Return the resolved path; None for a link that leads to itself."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return None


def _is_file(path: Path) -> bool:
    """Tell whether it is a file, or cannot be examined; then reading it reports that."""
    try:
        return path.is_file()
    except OSError:
        return True

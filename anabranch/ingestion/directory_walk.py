"""Find the files to read and give each the name that people will see in citations."""

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
from anabranch.store.corpus_folder import suggest_own_folder
from anabranch.text.normalization import storable

_THREADS = (".threads.db", ".threads.db-wal", ".threads.db-shm", ".threads.db-journal")
"""Conversations, which lie beside a corpus."""

_LEFT_OUT = frozenset({"node_modules", "__pycache__"})
"""Folders whose files no person wrote, by name."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, and what to call it.

    Attributes:
        path: Where it lies.
        source: Its path below the folder that was given, with `/` between the parts, or the name of a file that was
            given itself. Where two of several paths would give the same name, their folders' names come in front. The
            address of a web page, `archive.zip!/member` for a member of an archive.
        identity: What the corpus knows it by from one run to the next, where that is not the path: an address, or the
            path of an archive, `!/` and the name of the member. Empty for a file.
        is_copy: Whether `path` is a copy made for this run, to be deleted once it has been read (`discard`).
        metadata: Facts for its documents beside those that the reader finds.
        real: Where it really lay when it was found, behind all links; None where nobody has looked.
        version: What its service says of it, which changes with its content; empty where nothing does.
        fetch: Makes the copy, and returns the version of which it is one, empty if nobody knows; None where it is made.
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
        """Where to look at it: without links, if that is known."""
        return self.real or self.path

    def discard(self) -> None:
        """Delete the file if it is a copy, with the folder that is its own; it may be gone already."""
        if self.is_copy:
            self.path.unlink(missing_ok=True)
            with suppress(OSError):
                self.path.parent.rmdir()


def identity_of(found: FoundFile) -> str:
    """Return what the corpus knows a file by."""
    return storable(found.identity or str(found.real or found.path.resolve()))


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk came upon.

    Attributes:
        files: In the order of the paths, sorted below each.
        folders: Those given and those that links led to, resolved: what is not in `files` is not there.
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

    Hidden files and folders (leading dot) below a folder are left out, and so is everything in `skip` (the corpus
    itself). Every other file is found, whatever its kind, and so is a folder that may not be opened: reading them says
    why they cannot be used.

    Args:
        paths: Files and folders.
        skip: Left out with all that is below them.
        follow_links: Follow symbolic links to places outside the folder given. Otherwise a link is followed only to a
            place inside. In both cases it yields no file that the folder shows under its own name.
        root: Where `paths` count from, and what of it may be read; None for wherever they lead. A file that is given
            itself and is the caller's own is called by its path below theirs, and not by its name alone.

    Raises:
        UserError: One of `paths` does not exist, is a corpus, is in `skip`, or is not what `root` admits.
    """
    top = root.own if root is not None else None
    placed = [_placed(path, root) for path in paths]
    barred = {path.resolve() for path in skip}
    seen: set[Path] = set()
    groups: list[tuple[Path, list[tuple[Path, Path]]]] = []
    folders: dict[Path, None] = {}
    for given, (path, real) in zip(paths, placed, strict=True):
        if real in barred:
            raise UserError(f"{str(given)!r} cannot be taken into itself.", hint=suggest_own_folder(given))
        if path.is_dir() and is_corpus(names_in(path) or []):
            msg = f"{str(given)!r} is a corpus, not a folder of documents."
            raise UserError(msg, hint="Documents that lie among the files of a corpus need a folder of their own.")
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
    return Walked(tuple(_named(groups)), tuple(folders))


def _placed(given: Path, root: IngestRoot | None) -> tuple[Path, Path]:
    """Return where a path is and where it really leads; what is said of it names it as it was given."""
    path = given if root is None else root.folder / given
    try:
        # Resolved once, here: whoever opens the file later follows that path and no link that was put in since.
        real, is_there = path.resolve(), path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # too long; a link to itself; a NUL
        why = error.strerror if isinstance(error, OSError) else error
        msg = f"The path {str(given)!r} cannot be looked at: {why}."
        raise UserError(msg, hint="Check the path and its permissions.") from error
    # After links are resolved: `..` and a link are two ways of leading out.
    if root is not None and not root.admits(real):
        raise _outside(given)
    if not is_there:
        raise UserError(f"There is nothing at {str(given)!r}.", hint="Check the path; it counts from where you are.")
    return path if root is None else real, real


def _outside(given: Path) -> UserError:
    """Return the error of a path that leads to where its caller may not read, whether there is something or not."""
    msg = f"The path {str(given)!r} is outside the folder that may be read, or is closed in it."
    hint = "Send files to /uploads. The operator opens a folder with ANABRANCH_INGEST_ROOT, all but hidden names in it."
    return UserError(msg, hint=hint)


def _below(root: Path, scan: _Scan) -> list[tuple[Path, Path]]:
    """Return the files below a folder, sorted; those reached through a link only if nothing else reaches them."""
    plain: list[tuple[Path, Path]] = []
    linked: list[tuple[Path, Path]] = []
    for path, real, through_link in scan:
        (linked if through_link else plain).append((path, real))
    # A file under its own name goes before a link to it: citations show the name that people know.
    known = {real for _, real in plain}
    for path, real in linked:
        if real not in known:
            known.add(real)
            plain.append((path, real))
    return sorted(plain, key=lambda file: file[0].relative_to(root).parts)


def _named(groups: Sequence[tuple[Path, Sequence[tuple[Path, Path]]]]) -> Iterator[FoundFile]:
    depths = [0] * len(groups)
    names = [_sources(root, files, 0) for root, files in groups]
    # As few folder names in front as tell the files apart, and the same ones for all files of a folder.
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
    """Yields each file below a folder, the place where it really lies, and whether a symbolic link leads to it.

    Attributes:
        entered: The folder and those that links led to, resolved. Links may lead round in circles: each place is
            entered through a link once.
    """

    def __init__(
        self, top: Path, real: Path, barred: Collection[Path], *, follow_links: bool, root: IngestRoot | None
    ) -> None:
        """Take the folder, where it really lies, what to leave out, whether links may lead out, and what is closed."""
        self._top = top
        self._inside = real
        self._barred = barred
        self._follow_links = follow_links
        self._root = root
        self.entered: dict[Path, None] = {self._inside: None}

    def __iter__(self) -> Iterator[tuple[Path, Path, bool]]:
        """Yield files, folders that may not be opened, and corpora; whoever reads one of these says what it is."""
        # The third says whether a link has led here: files behind links count only if nothing else shows them.
        folders = [(self._top, self._inside, False)]  # a loop, because folders nest deep
        while folders:
            folder, place, is_linked = folders.pop()
            names = names_in(folder)
            # A corpus below the folder is no documents: the text in it would be taken in a second time, without its
            # tags.
            if names is None or is_corpus(names):
                yield folder, place, is_linked
                continue
            for name in filter(is_counted, names):
                path = folder / name
                real = _real_place(path)
                if real is None:
                    continue
                # Not only where the name itself is a link: somebody may have put one in the folder's place by now.
                through_link = is_linked or real != place / name
                if not self._may_enter(real, through_link=through_link):
                    continue
                if _is_file(path):
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
    """Tell by its name whether a file or a folder is gone into: it is not hidden, and a person may have written it."""
    return not name.startswith(".") and name not in _LEFT_OUT and not name.endswith(_THREADS)


def _real_place(path: Path) -> Path | None:
    """Return where it really lies, None for a link that leads to itself."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return None


def _is_file(path: Path) -> bool:
    """Tell whether it is a file, or may not be looked at: then reading it says so."""
    try:
        return path.is_file()
    except OSError:
        return True

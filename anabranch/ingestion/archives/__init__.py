"""Take the files out of an archive, one at a time, each to a place of its own.

A member is never written under the name that it has in the archive, so no name, link or device can lead out of the
folder. A member that cannot be taken out is a `Failure` and costs itself. What an archive unpacks to is bounded.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath

from anabranch.errors import ReadingError
from anabranch.ingestion.archives.archive_members import Member, is_hidden, parts_of, tar_members, zip_members
from anabranch.ingestion.archives.unpack_limits import Allowance, TooMuchError
from anabranch.ingestion.directory_walk import FoundFile, identity_of
from anabranch.ingestion.safe_open import by_handle, safe_stem
from anabranch.readers import READERS
from anabranch.readers.document import Failure
from anabranch.store.file_identity import INSIDE
from anabranch.text.normalization import storable

__all__ = ["is_archive", "members"]

_OPENERS: dict[str, Callable[[Path, Allowance], Iterator[Member]]] = {
    ".zip": zip_members,
    ".tar": partial(tar_members, packing=""),
    ".tar.gz": partial(tar_members, packing="gz"),
    ".tgz": partial(tar_members, packing="gz"),
    ".tar.bz2": partial(tar_members, packing="bz2"),
    ".tbz2": partial(tar_members, packing="bz2"),
    ".tar.xz": partial(tar_members, packing="xz"),
    ".txz": partial(tar_members, packing="xz"),
}
"""By how the name ends, lower case."""
_DUPLICATE = ("duplicate", "The name occurs twice in the archive; the first one counts.")
_PIECE = 1 << 20
_EMPTY_BYTES = 2
"""What DEFLATE makes of nothing: a member with more of them holds more than it says, and is looked into."""


def is_archive(name: str) -> bool:
    """Tell whether a name is that of an archive that can be opened."""
    return _ending(name) != ""


def members(found: FoundFile, folder: Path) -> Iterator[FoundFile | Failure]:
    """Yield the files in an archive as copies in `folder`, each when it is asked for.

    Args:
        found: The archive.
        folder: Where the copies go, each into a folder of its own; who takes one `discard`s it.

    Yields:
        A copy with the source `archive.zip!/member`; for a member that cannot be taken in a `Failure` of that source;
        for an archive that cannot be read to its end a `Failure` of the archive's source, last. Hidden members are left
        out without a word. Reasons: `empty`, `refused` (its name leads out, it is a link or a device), `encrypted`,
        `unsupported` (also an archive in the archive), `too_large`, `broken`, `duplicate`, `unreadable`.

    Raises:
        OSError: A copy could not be written.
    """
    opener = _OPENERS[_ending(found.path.name)]
    # Two members of one name are legal, and unpackers differ in which of them counts: a scanner may have seen the
    # other.
    seen: set[str] = set()
    try:
        with _held(found) as path:
            allowance = Allowance(path.stat().st_size)
            for member in _listed(opener, path, allowance):
                parts = parts_of(member.name)
                # As in folders: what programs keep for themselves is no failure to be told of.
                if parts is not None and is_hidden(parts):
                    continue
                name = "/".join(parts or (storable(member.name)[:200],))
                why = _objection(member, parts, allowance) if name not in seen else _DUPLICATE
                seen.add(name)
                yield _taken(found, name, member, folder) if why is None else Failure(_source(found, name), *why)
                allowance.rest()
    except TooMuchError as error:
        yield Failure(found.source, "too_large", f"The archive was not read to its end: {error}.")
    except ReadingError as error:
        yield Failure(found.source, error.reason, str(error))


@contextmanager
def _held(found: FoundFile) -> Iterator[Path]:
    """Yield a path to the archive that was found, whatever is put in its place."""
    with ExitStack() as stack:
        try:
            path = stack.enter_context(by_handle(found.path, found.real))
            path.stat()
        except OSError as error:
            raise _unreadable(error) from error
        yield path


def _listed(
    opener: Callable[[Path, Allowance], Iterator[Member]], path: Path, allowance: Allowance
) -> Iterator[Member]:
    try:
        yield from opener(path, allowance)
    except TooMuchError:
        raise
    except OSError as error:
        # `bz2` and `gzip` raise OSError for damaged data, too; only those from the system have a number.
        if error.errno is None:  # from a decompressor, not from the disk
            raise _broken(error) from error
        raise _unreadable(error) from error
    except Exception as error:  # whatever the libraries make of damaged bytes
        raise _broken(error) from error


def _unreadable(error: OSError) -> ReadingError:
    return ReadingError(f"The archive cannot be opened: {error.strerror}.", reason="unreadable")


def _broken(error: Exception) -> ReadingError:
    said = " ".join(str(error).split())[:200] or type(error).__name__
    return ReadingError(f"The archive is damaged, or is not what its name says: {said}.", reason="broken")


def _objection(member: Member, parts: tuple[str, ...] | None, allowance: Allowance) -> tuple[str, str] | None:
    if parts is None:
        return "refused", "Its name leads out of the archive, or is none that a file can have."
    if member.objection is not None:
        return member.objection
    if is_archive(parts[-1]):
        return "unsupported", "It is an archive in an archive, which is not opened."
    if PurePosixPath(parts[-1]).suffix.lower() not in READERS:
        return "unsupported", "It is not of a kind that can be read."
    if too_much := allowance.objection(member.size, member.packed):
        return "too_large", f"It was not unpacked: {too_much}."
    return None


def _taken(found: FoundFile, name: str, member: Member, folder: Path) -> FoundFile | Failure:
    source = _source(found, name)
    # There may be a hundred thousand of them, and a copy and a reader for each would take minutes.
    if member.size == 0 and (member.packed or 0) <= _EMPTY_BYTES:
        return Failure(source, "empty", "It has no content.")
    try:
        path = _copied(member, folder)
    except ReadingError as error:
        return Failure(source, error.reason, str(error))
    identity = f"{identity_of(found)}{INSIDE}{name}"
    return FoundFile(path, source, identity=identity, is_copy=True)


def _source(found: FoundFile, name: str) -> str:
    return f"{found.source}{INSIDE}{name}"


def _ending(name: str) -> str:
    return next((ending for ending in _OPENERS if name.lower().endswith(ending)), "")


def _copied(member: Member, folder: Path) -> Path:
    """Write a member into a new folder inside `folder`; return the file, which has the member's extension.

    Raises:
        ReadingError: `broken`; then nothing is left behind.
        OSError: It could not be written; likewise.
    """
    # A folder for each: two members may have the same name in different folders, or on a disk that tells no case apart.
    own = Path(tempfile.mkdtemp(dir=folder))
    last = PurePosixPath(member.name)
    path = own / f"{safe_stem(last.stem, 'file')}{last.suffix}"
    try:
        with path.open("xb") as file:
            for piece in _pieces(member):
                file.write(piece)
    except BaseException:
        shutil.rmtree(own)
        raise
    return path


def _pieces(member: Member) -> Iterator[bytes]:
    try:
        with member.open() as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except TooMuchError:
        raise
    except Exception as error:  # whatever the libraries make of damaged bytes
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadingError(f"It cannot be unpacked: {said}.", reason="broken") from error

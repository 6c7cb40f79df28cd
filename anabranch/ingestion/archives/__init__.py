"""Unpack the files in an archive, one at a time, each into its own folder.

A member is never written under its name in the archive, so no name, link or device can lead out of the folder. A member
that cannot be unpacked is a `Failure` and affects no other. The unpacked size is limited.
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
from anabranch.ingestion.safe_open import pin_path, safe_stem
from anabranch.readers import READERS, extension_of
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
"""By the end of the name, lower case."""
_DUPLICATE = ("duplicate", "The name occurs twice in the archive; the first one counts.")
_PIECE = 1 << 20
_EMPTY_BYTES = 2
"""Packed size of an empty member; one with more bytes may not be empty, and is unpacked."""


def is_archive(name: str) -> bool:
    """Tell whether a name is that of a supported archive."""
    return _ending(name) != ""


def members(found: FoundFile, folder: Path) -> Iterator[FoundFile | Failure]:
    """Yield the files in an archive as copies in `folder`, each on demand.

    Args:
        found: The archive.
        folder: The folder for copies, each in its own subfolder; the consumer calls `discard` on each.

    Yields:
        A copy with the source `archive.zip!/member`; a `Failure` with that source for a member that cannot be read; a
        last `Failure` with the archive's source if the archive cannot be read to its end. Hidden members are silently
        left out. Reasons: `empty`, `refused` (its name leads out, it is a link or a device), `encrypted`,
        `unsupported` (also an archive in the archive), `too_large`, `broken`, `duplicate`, `unreadable`.

    Raises:
        OSError: A copy could not be written.
    """
    opener = _OPENERS[_ending(found.path.name)]
    # Two members may have the same name, and unpackers differ in which one counts: a virus scanner may have seen only
    # the other.
    seen: set[str] = set()
    try:
        with _open_archive(found) as path:
            allowance = Allowance(path.stat().st_size)
            for member in _list_members(opener, path, allowance):
                parts = parts_of(member.name)
                # Hidden files are silently left out, as in folders.
                if parts is not None and is_hidden(parts):
                    continue
                name = "/".join(parts or (storable(member.name)[:200],))
                why = _objection(member, parts, allowance) if name not in seen else _DUPLICATE
                seen.add(name)
                yield _unpack(found, name, member, folder) if why is None else Failure(_source(found, name), *why)
                allowance.restart_clock()
    except TooMuchError as error:
        yield Failure(found.source, "too_large", f"The archive was not read to its end: {error}.")
    except ReadingError as error:
        yield Failure(found.source, error.reason, str(error))


@contextmanager
def _open_archive(found: FoundFile) -> Iterator[Path]:
    """Yield a path to the archive that was found, whatever replaces it."""
    with ExitStack() as stack:
        try:
            path = stack.enter_context(pin_path(found.path, found.real))
            path.stat()
        except OSError as error:
            raise _unreadable_error(error) from error
        yield path


def _list_members(
    opener: Callable[[Path, Allowance], Iterator[Member]], path: Path, allowance: Allowance
) -> Iterator[Member]:
    try:
        yield from opener(path, allowance)
    except TooMuchError:
        raise
    except OSError as error:
        # `bz2` and `gzip` raise OSError for damaged data, too, but without a number.
        if error.errno is None:  # from a decompressor, not from the system
            raise _damage_error(error) from error
        raise _unreadable_error(error) from error
    except Exception as error:  # libraries may raise anything for damaged bytes
        raise _damage_error(error) from error


def _unreadable_error(error: OSError) -> ReadingError:
    return ReadingError(f"The archive cannot be opened: {error.strerror}.", reason="unreadable")


def _damage_error(error: Exception) -> ReadingError:
    why = " ".join(str(error).split())[:200] or type(error).__name__
    return ReadingError(f"The archive is damaged, or is not what its name says: {why}.", reason="broken")


def _objection(member: Member, parts: tuple[str, ...] | None, allowance: Allowance) -> tuple[str, str] | None:
    if parts is None:
        return "refused", "Its name leads out of the archive, or is not a valid file name."
    if member.objection is not None:
        return member.objection
    if is_archive(parts[-1]) or parts[-1].lower().endswith(".gz"):  # each would have an allowance of its own
        return "unsupported", "It is an archive in an archive, which is not opened."
    if extension_of(PurePosixPath(parts[-1])) not in READERS:
        return "unsupported", "It is not of a kind that can be read."
    if too_much := allowance.objection(member.size, member.packed):
        return "too_large", f"It was not unpacked: {too_much}."
    return None


def _unpack(found: FoundFile, name: str, member: Member, folder: Path) -> FoundFile | Failure:
    source = _source(found, name)
    # There may be a hundred thousand empty members, and copying and reading them would take minutes.
    if member.size == 0 and (member.packed or 0) <= _EMPTY_BYTES:
        return Failure(source, "empty", "It has no content.")
    try:
        path = _copy_member(member, folder)
    except ReadingError as error:
        return Failure(source, error.reason, str(error))
    identity = f"{identity_of(found)}{INSIDE}{name}"
    return FoundFile(path, source, identity=identity, is_copy=True)


def _source(found: FoundFile, name: str) -> str:
    return f"{found.source}{INSIDE}{name}"


def _ending(name: str) -> str:
    return next((ending for ending in _OPENERS if name.lower().endswith(ending)), "")


def _copy_member(member: Member, folder: Path) -> Path:
    """Write a member into a new folder inside `folder`; return the file, which has the member's extension.

    Raises:
        ReadingError: `broken`; the folder is removed.
        OSError: It could not be written; the folder is removed.
    """
    # Its own folder, because members of different folders, or on a disk that ignores case, may have the same name.
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
    except Exception as error:  # libraries may raise anything for damaged bytes
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadingError(f"It cannot be unpacked: {why}.", reason="broken") from error

"""Copy a member of an archive to a file of its own."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from anabranch.errors import ReadingError
from anabranch.ingest.archives.member import Member
from anabranch.ingest.archives.unpack_limits import TooMuchError

_PIECE = 1 << 20
_UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
_LONGEST = 120


def copied(member: Member, folder: Path) -> Path:
    """Write a member into a new folder inside `folder`; return the file, which has the member's extension.

    Raises:
        ReadingError: `broken`; then nothing is left behind.
        OSError: It could not be written; likewise.
    """
    own = Path(tempfile.mkdtemp(dir=folder))
    path = own / plain_name(member.name)
    try:
        with path.open("xb") as file:
            for piece in _pieces(member):
                file.write(piece)
    except BaseException:
        shutil.rmtree(own)
        raise
    return path


def plain_name(name: str) -> str:
    """Return the last part of a name as one that every file system takes; it becomes the title where there is none."""
    last = PurePosixPath(name)
    stem = _UNSAFE_IN_NAMES.sub(" ", last.stem).encode("utf-8", "ignore")[:_LONGEST].decode("utf-8", "ignore")
    return f"{stem.strip(' .') or 'file'}{last.suffix}"


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

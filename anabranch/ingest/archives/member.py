"""A member of an archive, and whether its name is one that a file inside a folder can have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive.

    Attributes:
        name: As the archive has it.
        size: Bytes by its own account.
        packed: Bytes in the archive, None where they are not apart.
        objection: Why it cannot be taken in, as (reason, message); empty if it can.
        open: Opens it for reading; of a tar only until the next member is asked for.
    """

    name: str
    size: int
    packed: int | None
    objection: tuple[str, str] | None
    open: Callable[[], IO[bytes]]


def parts_of(name: str) -> tuple[str, ...] | None:
    """Return the folders and the name of a member; None for a name that leads out of the archive, or is none.

    Both kinds of slash count: what is a name on one system leads out of the folder on another.
    """
    if len(name) > _LONGEST or _UNSEEN.search(name) or name.startswith(("/", "\\")) or _DRIVE.match(name):
        return None
    if ".." in re.split(r"[/\\]", name):
        return None
    return tuple(part for part in name.split("/") if part not in ("", ".")) or None


def is_hidden(parts: tuple[str, ...]) -> bool:
    """Tell whether it is left out without a word, as hidden files of a folder are; also what macOS adds."""
    return parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)

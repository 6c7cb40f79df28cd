"""Where a corpus is published to: files that never change, and one pointer that is swapped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from anabranch.errors import CorpusDamagedError
from anabranch.store.index.segment import sha256, sync

FILES = "files"
"""What stands before the name of a file: SHA-256, and a word of chance for each run that uploads."""


class ObjectStore(Protocol):
    """A place for files by name; all methods block.

    All raise CorpusUnreachableError where it does not answer, and SettingsError where it refuses who asks.
    """

    shown: str

    def pointer(self) -> tuple[bytes, str] | None:
        """Return the pointer, and what tells it from a later one; None where there is none."""
        ...

    def swap(self, pointer: bytes, before: str | None) -> bool:
        """Replace the pointer; False if it is not what it was (`before`; None: there was none), and nothing is done."""
        ...

    def get(self, name: str, to: Path) -> None:
        """Copy a file from there.

        Raises:
            FileNotFoundError: There is no such file.
        """
        ...

    def put(self, file: Path, name: str) -> None:
        """Copy a file there; it can be seen whole or not at all."""
        ...

    def written(self) -> dict[str, float]:
        """Return when each file was written, by name, in seconds since 1970; unfinished ones, too."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone already are no error."""
        ...


def name_of(digest: str, session: str) -> str:
    """Return what a file is called there."""
    # The word of chance: a name that nobody refers to any more never comes back, so whoever tidies up cannot take away
    # what another publisher has just found to be there.
    return f"{FILES}/{digest}-{session}"


def digest_in(name: str) -> str:
    """Return the SHA-256 that a name says its file has."""
    return name.removeprefix(f"{FILES}/").partition("-")[0]


def fetch(objects: ObjectStore, name: str, to: Path) -> None:
    """Copy a file from there, under its final name once it is known to be what was published.

    Raises:
        CorpusDamagedError: It is missing, or is not what was published.
    """
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = to.with_name(f".{to.name}.part")
    hint = "Publish the corpus again with --anew, which sends every file."
    try:
        objects.get(name, part)
    except FileNotFoundError as error:
        raise CorpusDamagedError(f"The file {name} is missing in {objects.shown}.", hint=hint) from error
    if sha256(part) != digest_in(name):
        part.unlink()
        raise CorpusDamagedError(f"The file {name} in {objects.shown} is not what was published.", hint=hint)
    sync(part)
    part.replace(to)


def digest_of_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()

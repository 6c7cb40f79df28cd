"""The place of a published corpus: files that never change, and one pointer that is swapped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from anabranch.errors import CorpusDamagedError
from anabranch.store.index.segment import sha256, sync

FILES = "files"
"""Prefix of the names of files, which consist of a SHA-256 and a random id of the uploading run."""


class ObjectStore(Protocol):
    """A place for files by name; all methods block.

    All raise CorpusUnreachableError if it does not answer, and SettingsError if it refuses the credentials.
    """

    shown: str

    def pointer(self) -> tuple[bytes, str] | None:
        """Return the pointer and its version; None if there is none."""
        ...

    def swap(self, pointer: bytes, before: str | None) -> bool:
        """Replace the pointer if its version is still `before` (None: no pointer); return whether it was replaced."""
        ...

    def get(self, name: str, to: Path) -> None:
        """Copy a file from there.

        Raises:
            FileNotFoundError: There is no such file.
        """
        ...

    def put(self, file: Path, name: str) -> None:
        """Copy a file there, so that it appears whole or not at all."""
        ...

    def written(self) -> dict[str, float]:
        """Return the time of each file by name, in seconds since 1970, including unfinished ones."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; it is no error if one is already gone."""
        ...


def name_of(digest: str, session: str) -> str:
    """Return the name of a file there."""
    # With the random id, an unused name never comes back, so that tidying cannot remove a file that another publisher
    # has just found there.
    return f"{FILES}/{digest}-{session}"


def digest_in(name: str) -> str:
    """Return the SHA-256 in the name of a file."""
    return name.removeprefix(f"{FILES}/").partition("-")[0]


def fetch(objects: ObjectStore, name: str, to: Path) -> None:
    """Copy a file from there; it gets its final name after its checksum is verified.

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

"""A corpus that is published to a folder, which several machines may have mounted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from anabranch.errors import CorpusUnreachableError, UserError
from anabranch.readers.corpus_marker import DATABASE, POINTER
from anabranch.store.corpus_folder import list_names
from anabranch.store.index.segment import sync
from anabranch_copies.replica.object_store import FILES, digest_of_bytes

WAIT = 30
"""Seconds to wait for another publisher, which needs only milliseconds to swap the pointer."""


def check_target(folder: Path) -> None:
    """Refuse a folder with other files, such as the corpus itself.

    Raises:
        UserError: The folder holds others.
    """
    # Files of an interrupted first publication are allowed.
    if (folder / DATABASE).exists() or list_names(folder) - {POINTER, FILES}:
        msg = f"The folder {str(folder)!r} holds other files; a published corpus needs a folder of its own."
        raise UserError(msg, hint="Name an empty or a new folder.")


class FolderObjects:
    """Files below a folder, implementing `ObjectStore`."""

    def __init__(self, folder: Path) -> None:
        """Take the folder, which is made by the first file."""
        self._folder = folder
        self.shown = str(folder)

    def pointer(self) -> tuple[bytes, str] | None:
        """Return the pointer and its checksum."""
        with self._translate_errors():
            try:
                data = (self._folder / POINTER).read_bytes()
            except FileNotFoundError:
                return None
        return data, digest_of_bytes(data)

    def swap(self, pointer: bytes, before: str | None) -> bool:
        """Replace the pointer by a rename, while no other publisher does."""
        with self._translate_errors():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._folder / ".lock", timeout=WAIT):
                found = self.pointer()
                if (found[1] if found else None) != before:
                    return False
                fresh = self._folder / f".{POINTER}"
                fresh.write_bytes(pointer)
                sync(fresh)
                fresh.replace(self._folder / POINTER)
                sync(self._folder)
        return True

    def get(self, name: str, to: Path) -> None:
        """Copy a file from there."""
        with self._translate_errors():
            shutil.copyfile(self._folder / name, to)

    def put(self, file: Path, name: str) -> None:
        """Copy a file there, and rename it once it is on the disk."""
        final = self._folder / name
        with self._translate_errors():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            final.parent.mkdir(mode=0o700, exist_ok=True)
            part = final.with_name(f".{final.name}.{os.getpid()}")
            shutil.copyfile(file, part)
            sync(part)
            part.replace(final)
            sync(final.parent)

    def written(self) -> dict[str, float]:
        """Return the time of each file."""
        with self._translate_errors():
            found = os.scandir(self._folder / FILES) if (self._folder / FILES).is_dir() else ()
            return {f"{FILES}/{entry.name}": entry.stat().st_mtime for entry in found}

    def remove(self, names: Iterable[str]) -> None:
        """Remove files."""
        with self._translate_errors():
            for name in names:
                (self._folder / name).unlink(missing_ok=True)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, Timeout) as error:
            why = "another publisher holds its lock" if isinstance(error, Timeout) else error.strerror or error
            msg = f"The folder {self._folder} cannot be used: {why}."
            raise CorpusUnreachableError(msg, hint="Check its mount, its permissions and the disk space.") from error

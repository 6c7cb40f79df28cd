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
"""Seconds to wait for another publisher that swaps the pointer, which takes it milliseconds."""


def check_target(folder: Path) -> None:
    """Refuse to publish among other files, the corpus's own for example.

    Raises:
        UserError: The folder holds others.
    """
    # What a first publication has sent before it was killed is no other file.
    if (folder / DATABASE).exists() or list_names(folder) - {POINTER, FILES}:
        msg = f"The folder {str(folder)!r} holds other files; a published corpus needs a folder of its own."
        raise UserError(msg, hint="Name a folder that is empty, or not there yet.")


class FolderObjects:
    """Files below a folder, implementing `ObjectStore`."""

    def __init__(self, folder: Path) -> None:
        """Take the folder, which is made by the first file."""
        self._folder = folder
        self.shown = str(folder)

    def pointer(self) -> tuple[bytes, str] | None:
        """Return the pointer and its checksum."""
        with self._explained():
            try:
                data = (self._folder / POINTER).read_bytes()
            except FileNotFoundError:
                return None
        return data, digest_of_bytes(data)

    def swap(self, pointer: bytes, before: str | None) -> bool:
        """Replace the pointer by a rename, while no other publisher does."""
        with self._explained():
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
        with self._explained():
            shutil.copyfile(self._folder / name, to)

    def put(self, file: Path, name: str) -> None:
        """Copy a file there, and rename it once it is on the disk."""
        final = self._folder / name
        with self._explained():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            final.parent.mkdir(mode=0o700, exist_ok=True)
            part = final.with_name(f".{final.name}.{os.getpid()}")
            shutil.copyfile(file, part)
            sync(part)
            part.replace(final)
            sync(final.parent)

    def written(self) -> dict[str, float]:
        """Return when each file was written."""
        with self._explained():
            found = os.scandir(self._folder / FILES) if (self._folder / FILES).is_dir() else ()
            return {f"{FILES}/{entry.name}": entry.stat().st_mtime for entry in found}

    def remove(self, names: Iterable[str]) -> None:
        """Remove files."""
        with self._explained():
            for name in names:
                (self._folder / name).unlink(missing_ok=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, Timeout) as error:
            said = "another publisher keeps its lock" if isinstance(error, Timeout) else error.strerror or error
            msg = f"The folder {self._folder} cannot be used: {said}."
            raise CorpusUnreachableError(msg, hint="Check that it is mounted, its permissions and its room.") from error

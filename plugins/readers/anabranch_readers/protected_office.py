"""Open office files that a password protects, with those that were given for the run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from anabranch.readers.office_password import decrypt, is_compound


@contextmanager
def open_with_password(path: Path, source: str, passwords: Sequence[str]) -> Iterator[Path]:
    """Yield the file, or a copy of it that is not protected any more and is deleted at the end of the block.

    Raises:
        ReadingError: `encrypted` when no password that was given opens it.
        MissingExtraError: Passwords were given for a protected file, and the extra `passwords` is not installed.
    """
    if not passwords or not is_compound(path):
        yield path  # its reader says what it is
        return
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        copy = Path(folder) / path.name
        yield copy if decrypt(path, copy, source, passwords) else path

"""Open office files that a password protects, with those that were given for the run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import MissingExtraError, ReadingError
from anabranch.readers.zip_container import MOST_UNPACKED, is_compound, protected


@contextmanager
def opened_with_password(path: Path, source: str, passwords: Sequence[str]) -> Iterator[Path]:
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
        yield copy if decrypted(path, copy, source, passwords) else path


def decrypted(path: Path, copy: Path, source: str, passwords: Sequence[str]) -> bool:
    """Write the file without its protection; False where it has none.

    Raises:
        ReadingError: `encrypted` when no password opens it.
        MissingExtraError: The extra `passwords` is not installed.
    """
    try:
        from msoffcrypto import OfficeFile
        from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError
    except ImportError as error:
        raise MissingExtraError("A password for an office file", "passwords") from error
    with path.open("rb") as file:
        try:
            office = OfficeFile(file)
            if not office.is_encrypted():
                return False
        except (FileFormatError, OSError):  # a compound file of another kind
            return False
        for password in passwords:
            try:
                office.load_key(password=password)
                with copy.open("wb") as plain:
                    office.decrypt(plain)
            except (InvalidKeyError, DecryptionError):
                continue
            if copy.stat().st_size > MOST_UNPACKED:
                raise ReadingError(f"{source!r} is too large once it is decrypted.", reason="too_large")
            return True
    raise protected(source, "and none that was given opens it")

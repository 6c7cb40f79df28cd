"""Take the protection off office files, with the passwords that were given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anabranch.errors import MissingExtraError, ReadingError

MOST_UNPACKED = 1 << 30  # as large as a file may be that is not packed

# What a compound file begins with: old office files, encrypted ones, messages of Outlook.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def decrypt(path: Path, copy: Path, source: str, passwords: Sequence[str]) -> bool:
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
    raise password_error(source, "and none that was given opens it")


def is_compound(path: Path) -> bool:
    """Tell whether a file is a compound one: an old office file, an encrypted one, a message of Outlook."""
    with path.open("rb") as file:
        return file.read(len(OLE)) == OLE


def password_error(
    source: str, tried: str = "", hint: str = "Give it with --password, or save a copy without a password."
) -> ReadingError:
    """Return the error for a file that needs a password; `tried` says what came of those that were given."""
    msg = f"{source!r} is protected by a password{f', {tried}' if tried else ''}."
    return ReadingError(msg, reason="encrypted", hint=hint)

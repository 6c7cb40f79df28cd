"""The process that takes the protection off one file: `python -m anabranch_server.unlocking_process`.

It is started for the file and ends with it, and so does the password, which comes over its standard input.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pymupdf.mupdf import PDF_ENCRYPT_NONE

from anabranch.errors import AnabranchError, ReadingError
from anabranch.readers.mupdf import FAULTS, open_pdf
from anabranch.readers.office_password import decrypted
from anabranch.readers.zip_container import is_compound
from anabranch_server.page_reader import serve


def obey(order: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Write a file without its protection.

    Args:
        order: `path`, the `copy` to write, the `name` that people know and the `password`.

    Returns:
        The reply: `is_open`, False where the file is not protected, or of a kind that no password opens here; or
        `refused`: what went wrong and what to do.
    """
    path, copy, name, password = Path(order["path"]), Path(order["copy"]), order["name"], order["password"]
    try:
        if is_compound(path):
            return {"is_open": decrypted(path, copy, name, [password])}, b""
        return {"is_open": name.lower().endswith(".pdf") and _pdf_decrypted(path, copy, name, password)}, b""
    except AnabranchError as error:
        is_wrong = isinstance(error, ReadingError) and error.reason == "encrypted"
        return {"refused": _wrong(name) if is_wrong else (error.message, error.hint)}, b""


def _pdf_decrypted(path: Path, copy: Path, name: str, password: str) -> bool:
    try:
        with open_pdf(path) as pdf:
            if not pdf.needs_pass:
                return False
            if not pdf.authenticate(password):
                raise ReadingError(f"{name!r} is protected by a password.", reason="encrypted")
            pdf.save(copy, encryption=PDF_ENCRYPT_NONE)
            return True
    except AnabranchError:
        raise
    except FAULTS:
        return False  # its reader says what it is


def _wrong(name: str) -> tuple[str, str]:
    return f"The password does not open {name!r}.", "See that it is that of this file; capitals count."


if __name__ == "__main__":
    os.umask(0o077)
    serve(obey)

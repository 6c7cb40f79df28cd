"""The process that removes the password from one file: `python -m anabranch_server.unlocking_process`.

It handles one file and ends, so that the password, which it reads from standard input, leaves memory.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pymupdf.mupdf import PDF_ENCRYPT_NONE

from anabranch.errors import AnabranchError, ReadingError
from anabranch.readers.mupdf import FAULTS, open_pdf
from anabranch.readers.office_password import decrypt, is_compound
from anabranch_server.page_reader import serve


def obey(order: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Write a copy of a file without its password.

    Args:
        order: `path`, the `copy` to write, the `name` for messages, and the `password`.

    Returns:
        The reply: `is_open`, False where the file has no password or is of another kind; or `refused`: the message
        and the hint.
    """
    path, copy, name, password = Path(order["path"]), Path(order["copy"]), order["name"], order["password"]
    try:
        if is_compound(path):
            return {"is_open": decrypt(path, copy, name, [password])}, b""
        return {"is_open": name.lower().endswith(".pdf") and _pdf_decrypted(path, copy, name, password)}, b""
    except AnabranchError as error:
        is_wrong = isinstance(error, ReadingError) and error.reason == "encrypted"
        return {"refused": _wrong_password(name) if is_wrong else (error.message, error.hint)}, b""


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
        return False  # its reader reports the fault


def _wrong_password(name: str) -> tuple[str, str]:
    return f"The password does not open {name!r}.", "Check that it belongs to this file; capitals count."


if __name__ == "__main__":
    os.umask(0o077)
    serve(obey)

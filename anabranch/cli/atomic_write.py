"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from anabranch.errors import SettingsError


def check_folder(path: Path, option: str) -> None:
    """Refuse a file to write whose folder is not there, before any work is done for it."""
    if not path.parent.is_dir():
        msg = f"The folder of {option}, {path.parent}, does not exist."
        raise SettingsError(msg, hint="Create it first.")
    if path.is_dir():
        msg = f"{option} names a folder, {path}."
        raise SettingsError(msg, hint="Name a file in it.")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a kill leaves the old one or the new one; a device or a pipe is written as it is."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        return
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)

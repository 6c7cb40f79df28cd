"""Checksums of model files, which are large and rarely change."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path


def sha256(file: Path) -> str:
    """Return the file's SHA-256 in hexadecimal; a file that is as it was is not read again."""
    stat = file.stat()
    return _sha256_of(str(file), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _sha256_of(path: str, _size: int, _mtime_ns: int) -> str:
    """Hash a file once for each state that it is seen in."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

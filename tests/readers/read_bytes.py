"""Reads bytes as a file of some name."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch.readers import read
from anabranch.readers.document import Document, ReadOptions


def documents(folder: Path, name: str, data: bytes | str, options: ReadOptions | None = None) -> list[Document]:
    """Return the documents of a file with these bytes, all of whose parts can be read."""
    path = folder / name.rpartition("/")[2]
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = list(read(path, name, options or ReadOptions()))
    assert all(isinstance(each, Document) for each in found)
    return [each for each in found if isinstance(each, Document)]


def texts(folder: Path, name: str, data: bytes | str) -> list[str]:
    """Return the texts of the blocks of the one document."""
    (document,) = documents(folder, name, data)
    return [block.text for block in document.blocks]


def reason(folder: Path, name: str, data: bytes | str, options: ReadOptions | None = None) -> str:
    """Return why a file cannot be read; its message is one line that names it."""
    with pytest.raises(ReadingError) as caught:
        documents(folder, name, data, options)
    assert name in caught.value.message
    assert "\n" not in str(caught.value)
    return caught.value.reason

"""Saves arrays, and opens them where they lie on disk."""

from __future__ import annotations

import math
import mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, read_array_header_1_0, read_magic, write_array_header_1_0
from numpy.typing import NDArray


def mapped(file: Path) -> NDArray[Any]:
    """Return the array in `file`, as `save` wrote it, memory-mapped and read-only.

    Raises:
        ValueError: The file has no such array.
    """
    # Not by `np.load`, which takes as long again to find out the absolute path of the file, and whose class for mapped
    # arrays takes ten times as long for a look at one number. No pickle: loading an index must run no code.
    with file.open("rb") as opened:
        if read_magic(opened) != (1, 0):
            raise ValueError(f"{file.name} is of another version of the format")
        shape, is_turned, kind = read_array_header_1_0(opened)
        begin = opened.tell()
        if kind.hasobject or is_turned:
            raise ValueError(f"{file.name} holds what is not saved here")
        content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(content, kind, count=math.prod(shape), offset=begin).reshape(shape)


def save(file: Path, array: NDArray[Any]) -> None:
    """Write an array as `np.save` does, which does not tell if the end of a small one finds no room on the disk.

    Raises:
        OSError: There is none.
    """
    whole = np.ascontiguousarray(array)
    with file.open("wb") as out:
        write_array_header_1_0(out, header_data_from_array_1_0(whole))
        out.write(whole.data)

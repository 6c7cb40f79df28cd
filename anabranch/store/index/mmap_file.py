"""Saves arrays, and maps them from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0
from numpy.typing import NDArray


def map_array(file: Path) -> NDArray[Any]:
    """Return the array in `file`, memory-mapped and read-only; an empty one, which cannot be mapped, is loaded."""
    try:
        # As a plain array: reading one number from numpy's memmap class takes ten times as long.
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except ValueError:
        # An empty file cannot be mapped. No pickle: loading an index from a stranger must run no code.
        return np.load(file, allow_pickle=False)  # type: ignore[no-any-return]


def save(file: Path, array: NDArray[Any]) -> None:
    """Write an array like `np.save`, which does not report a full disk at the end of a small one.

    Raises:
        OSError: The disk is full.
    """
    whole = np.ascontiguousarray(array)
    with file.open("wb") as out:
        write_array_header_1_0(out, header_data_from_array_1_0(whole))
        out.write(whole.data)

"""Opens a saved array where it lies on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def mapped(file: Path) -> NDArray[Any]:
    """Return the array in `file`, memory-mapped and read-only; an empty one, which cannot be mapped, is loaded."""
    try:
        return np.load(file, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except ValueError:
        return np.load(file, allow_pickle=False)  # type: ignore[no-any-return]

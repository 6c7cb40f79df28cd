"""Looks whether this machine may have a graphics processor that a model server uses, without any library of one.

It cannot know whether the server uses it, whether the model fits into its memory, or how fast it is; and a container
may not show it. A processor that is built in beside an ordinary one does not count: most servers leave it alone.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

DEVICES = Path("/dev")
# Files of running drivers: NVIDIA's, also on its small computers, AMD's, and Windows' below Linux.
_DRIVERS = ("nvidia*", "nvhost-gpu", "kfd", "dxg")


def may_have_processor(devices: Path = DEVICES) -> bool:
    """Tell whether there may be one; on a system where nobody can look, yes.

    Args:
        devices: The folder of the device files, on Linux.
    """
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "linux":
        return any(True for pattern in _DRIVERS for _ in devices.glob(pattern))
    return True

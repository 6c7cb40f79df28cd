"""Where this program keeps what belongs to the user, as each platform wants it; XDG's variables go before that."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_NAME = "anabranch"


def cache_folder() -> Path:
    """Return the folder for what can be made again."""
    return _folder("XDG_CACHE_HOME", {"darwin": "~/Library/Caches", "win32": "~/AppData/Local"}, "~/.cache")


def data_folder() -> Path:
    """Return the folder for what is to be kept."""
    usual = {"darwin": "~/Library/Application Support", "win32": "~/AppData/Local"}
    return _folder("XDG_DATA_HOME", usual, "~/.local/share")


def _folder(variable: str, usual: dict[str, str], other: str) -> Path:
    home = os.environ.get(variable) or Path(usual.get(sys.platform, other)).expanduser()
    return Path(home, _NAME)

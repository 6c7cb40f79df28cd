"""Tells the folder of a corpus from a folder of documents, by the names in it."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

# The file of a corpus that everything else in its folder can be made from again.
DATABASE = "corpus.db"
# What else there is in the folder of a corpus; at least one of these, or its database is somebody else's file.
BESIDE_DATABASE = frozenset({"CURRENT", "generations", "segments", "write.lock", "writer"})
# What a folder that a corpus is published to begins with (the plugin `copies`).
POINTER = "anabranch-replica.json"


def is_corpus(names: Collection[str]) -> bool:
    """Tell from the names in a folder whether it is that of a corpus, or of a published one."""
    return POINTER in names or (DATABASE in names and not BESIDE_DATABASE.isdisjoint(names))


def names_in(folder: Path) -> list[str] | None:
    """Return the names in a folder, sorted; None where nobody may look."""
    try:
        return sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return None

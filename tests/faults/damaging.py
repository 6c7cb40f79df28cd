"""Changes files as failing disks, interrupted copies and people do."""

from __future__ import annotations

import random
from pathlib import Path

BLOCK = 512


def damaged(file: Path, dice: random.Random) -> str:
    """Damage a file somehow, and say how."""
    content = file.read_bytes()
    while True:
        how = dice.choice(["flip", "flip", "flip", "cut", "cut", "zero", "longer", "gone"])
        place = dice.randrange(len(content))
        if how == "gone":
            file.unlink()
            return f"{file.name} is gone"
        changed = _changed(content, how, place, dice)
        if changed != content:
            file.write_bytes(changed)
            return f"{file.name}: {how} at {place} of {len(content)}"


def _changed(content: bytes, how: str, place: int, dice: random.Random) -> bytes:
    if how == "cut":
        return content[:place]
    if how == "longer":
        return content + dice.randbytes(dice.randint(1, BLOCK))
    if how == "zero":
        return content[:place] + bytes(min(BLOCK, len(content) - place)) + content[place + BLOCK :]
    return content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :]

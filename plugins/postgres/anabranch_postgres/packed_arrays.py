"""Many numbers or vectors at once, packed by numpy in PostgreSQL's binary formats.

Passed value by value, they take longer in the driver than in the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from anabranch.models.embedder import Vectors

_INT8, _INT8_ARRAY = 20, 1016
"""The fixed type numbers of PostgreSQL."""

_COPY_BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"


class Integers:
    """A parameter that is a `bigint[]`."""

    def __init__(self, numbers: NDArray[np.integer[Any]]) -> None:
        """Take whole numbers."""
        self.numbers = numbers


class VectorRows:
    """A parameter that is a `vector[]`."""

    def __init__(self, rows: Vectors) -> None:
        """Take vectors, shape (any, dimension)."""
        self.rows = rows


class _IntegersDumper(Dumper):
    format = Format.BINARY
    oid = _INT8_ARRAY

    def dump(self, obj: Integers) -> bytes:
        rows = np.empty(len(obj.numbers), dtype=[("size", ">i4"), ("value", ">i8")])
        rows["size"], rows["value"] = 8, obj.numbers
        return _array_head(len(rows), _INT8) + rows.tobytes()


class _VectorRowsDumper(Dumper):
    format = Format.BINARY
    element: int

    def dump(self, obj: VectorRows) -> bytes:
        count, dimension = obj.rows.shape
        # pgvector's binary format: the dimension and 0, two bytes each, then the numbers.
        kind = [("size", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("values", ">f4", (dimension,))]
        rows = np.zeros(count, dtype=kind)
        rows["size"], rows["dimension"], rows["values"] = 4 + 4 * dimension, dimension, obj.rows
        return _array_head(count, self.element) + rows.tobytes()


def _array_head(count: int, element: int) -> bytes:
    """Return the header of an array: dimensions, no NULLs, element type, length, first index."""
    return np.array([1, 0, element, count, 1] if count else [0, 0, element], dtype=">i4").tobytes()


def register_arrays(connection: Connection[Any]) -> None:
    """Register these parameters with a connection, after pgvector's own registration."""
    connection.adapters.register_dumper(Integers, _IntegersDumper)
    vector: TypeInfo = connection.adapters.types["vector"]
    kind = type("", (_VectorRowsDumper,), {"oid": vector.array_oid, "element": vector.oid})
    connection.adapters.register_dumper(VectorRows, kind)


def pack_rows(count: int, columns: Sequence[tuple[str, NDArray[Any] | int]]) -> bytes:
    """Return rows of numbers in the format of COPY (FORMAT binary).

    Args:
        count: How many rows.
        columns: For each column its numpy type, and its numbers or one number for all rows.
    """
    kind = [("columns", ">i2")]
    for place, (name, _) in enumerate(columns):
        kind += [(f"size {place}", ">i4"), (f"value {place}", f">{name}")]
    rows = np.empty(count, dtype=kind)
    rows["columns"] = len(columns)
    for place, (name, values) in enumerate(columns):
        rows[f"size {place}"], rows[f"value {place}"] = np.dtype(name).itemsize, values
    return _COPY_BEGIN + rows.tobytes() + _COPY_END

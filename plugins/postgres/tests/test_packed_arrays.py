"""Arrays and rows that are packed by numpy, as a real server reads them."""

from __future__ import annotations

import numpy as np
import pytest
from pgvector.psycopg import register_vector
from psycopg import Connection, connect

from anabranch_postgres.packed_arrays import Integers, VectorRows, pack_rows, register_arrays

pytestmark = pytest.mark.loopback


def prepared(database: str) -> Connection:
    connection = connect(database, autocommit=True)
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    register_vector(connection)
    register_arrays(connection)
    return connection


@pytest.mark.parametrize("numbers", [[], [5], [-(2**63), -1, 0, 2**63 - 1]])
def test_whole_numbers_arrive(database: str, numbers: list[int]) -> None:
    with prepared(database) as connection:
        sent = Integers(np.array(numbers, dtype=np.int64))
        assert connection.execute("SELECT %s", (sent,)).fetchone() == (numbers,)
        # Counted from 1, as any array of PostgreSQL's own.
        assert connection.execute("SELECT (%s)[1]", (sent,)).fetchone() == (numbers[0] if numbers else None,)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_vectors_arrive_bit_by_bit(database: str, count: int) -> None:
    rows = np.random.default_rng(1).normal(size=(count, 5)).astype(np.float32)
    with prepared(database) as connection:
        found = connection.execute("SELECT v FROM unnest(%s) v", (VectorRows(rows),), binary=True).fetchall()
    assert [vector.to_numpy().tobytes() for (vector,) in found] == [row.tobytes() for row in rows]


@pytest.mark.parametrize("leaves", [[], [7], [7, -(2**40)]])
def test_rows_arrive(database: str, leaves: list[int]) -> None:
    with prepared(database) as connection:
        connection.execute("CREATE TEMP TABLE packed (corpus int, leaf bigint, count smallint)")
        counts = np.arange(len(leaves), dtype=np.int64)
        with connection.cursor() as cursor, cursor.copy("COPY packed FROM STDIN (FORMAT binary)") as copy:
            copy.write(pack_rows(len(leaves), [("i4", 3), ("i8", np.array(leaves, dtype=np.int64)), ("i2", counts)]))
        found = connection.execute("SELECT * FROM packed").fetchall()
    assert found == [(3, leaf, place) for place, leaf in enumerate(leaves)]

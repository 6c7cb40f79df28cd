"""Rows read page by page are those that SQLite reads."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.corpus.portable.pages import Pages

values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text("xyzé", min_size=0, max_size=20_000),
    st.binary(max_size=300),
)
rows = st.lists(st.tuples(values, values, values), max_size=60)


def sqlite_rows(database: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return sorted(connection.execute("SELECT rowid, a, b, c FROM t"), key=lambda row: row[0])


def page_rows(database: Path) -> list[tuple[object, ...]]:
    with Pages(database) as pages:
        found = [(rowid, *row) for rowid, row in pages.rows() if len(row) == 3]
    return sorted(found, key=lambda row: row[0])


@settings(max_examples=40, deadline=None)
@given(rows, st.sampled_from([512, 1024, 4096, 65536]), st.sets(st.integers(1, 60)))
def test_all_rows_of_a_sound_table(given_rows: list[tuple[object, ...]], page_size: int, deleted: set[int]) -> None:
    with TemporaryDirectory() as folder:
        database = Path(folder) / "x.db"
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {page_size}")
            connection.execute("PRAGMA secure_delete = OFF")
            connection.execute("CREATE TABLE t (a, b, c)")
            connection.execute("CREATE INDEX i ON t (a)")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", given_rows)
            connection.executemany("DELETE FROM t WHERE rowid = ?", [(number,) for number in deleted])
            connection.execute("COMMIT")
        assert page_rows(database) == sqlite_rows(database)


def test_the_log_stands_for_older_pages(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("CREATE TABLE t (a, b, c)")
    writer.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, "before", "x" * 300) for n in range(100)])
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.execute("UPDATE t SET b = 'after' WHERE a < 50")
    writer.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, "after", "x" * 300) for n in range(100, 150)])
    writer.execute("BEGIN")
    writer.execute("UPDATE t SET b = 'never'")
    assert (tmp_path / "x.db-wal").stat().st_size > 0
    found = page_rows(database)
    writer.execute("ROLLBACK")
    assert found == sqlite_rows(database)
    assert {row[2] for row in found} == {"before", "after"}
    writer.close()


@pytest.mark.parametrize("size", [0, 1, 99, 100, 4095, 4096, 10_000])
def test_a_file_of_any_length_is_read(tmp_path: Path, size: int) -> None:
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0".ljust(size, b"\x0d")[:size])
    assert page_rows(tmp_path / "x.db") == []


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=12_000), st.integers(0, 3))
def test_garbage_is_never_an_error(content: bytes, head: int) -> None:
    with TemporaryDirectory() as folder:
        database = Path(folder) / "x.db"
        fronts = [b"", b"\x0d\0\0\0\x05", b"SQLite format 3\0", b"SQLite format 3\0\x10\0"]
        database.write_bytes(fronts[head] + content)
        (Path(folder) / "x.db-wal").write_bytes(content)
        page_rows(database)


def test_a_first_page_that_is_lost_costs_what_was_on_it(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a, b, c)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, "word", "y" * 500) for n in range(200)])
        connection.execute("COMMIT")
    expected = sqlite_rows(database)
    content = bytearray(database.read_bytes())
    content[:4096] = b"\xa5" * 4096
    database.write_bytes(content)
    assert page_rows(database) == expected

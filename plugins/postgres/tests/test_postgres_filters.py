"""Filters in PostgreSQL mean what the evaluator in Python says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.store.filters import COLUMNS
from anabranch_postgres.postgres_filters import postgres_clause
from tests.store.test_filters import Row, columns, expressions, holds, metadata

pytestmark = pytest.mark.loopback

NAMES = sorted(COLUMNS)


@pytest.fixture(scope="module")
def documents(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database, autocommit=True) as connection:
        fields = ", ".join(f"{name} text" for name in NAMES)
        connection.execute(f"CREATE TEMP TABLE tried (n int, {fields}, metadata jsonb)")
        yield connection


def passing(connection: psycopg.Connection[Any], rows: list[Row], filters: Mapping[str, Any] | None) -> list[int]:
    """Positions of the documents that pass, by PostgreSQL."""
    connection.execute("TRUNCATE tried")
    for n, (own, more) in enumerate(rows):
        values = (n, *(own.get(name, "") for name in NAMES), json.dumps(more))
        connection.execute(f"INSERT INTO tried VALUES ({', '.join(['%s'] * len(values))})", values)
    clause = postgres_clause(filters)
    found = connection.execute(f"SELECT n FROM tried d WHERE {clause.sql} ORDER BY n", clause.parameters)
    return [n for (n,) in found]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(columns, metadata), max_size=5), expressions)
def test_postgresql_agrees_with_the_evaluator(
    documents: psycopg.Connection[Any], rows: list[Row], expression: dict[str, Any]
) -> None:
    assert passing(documents, rows, expression) == [n for n, row in enumerate(rows) if holds(expression, row)]


@pytest.mark.parametrize(
    ("pattern", "text", "does"),
    [
        ("a.c", "abc", False),  # a dot is a dot
        ("*", "two\nlines", True),
        ("[z-a]", "b", False),
        ("[!z-a]", "b", True),
        ("[]]x", "]x", True),
        ("[a-c-]", "-", True),
        ("[^a]", "b", True),
        ("\\", "\\", True),
        ("(a|b)+$", "(a|b)+$", True),
        ("é[à-ü]?", "éíx", True),
        ("***:a", "***:a", True),
        ("[[:alpha:]]", ":]", True),
    ],
)
def test_a_pattern_is_the_shells(
    documents: psycopg.Connection[Any],
    pattern: str,
    text: str,
    does: bool,  # a parameter of the test
) -> None:
    row: Row = ({}, {"x": text})
    assert holds({"x": {"glob": pattern}}, row) == does
    assert passing(documents, [row], {"x": {"glob": pattern}}) == [0] * does


@pytest.mark.parametrize(
    ("value", "asked"),
    [(2**53 + 1, 2**53), (0.1, 0.1), (1e300, 1e300), (5e-324, 5e-324), (-(2**63), -(2**63)), (1, 1.0), (1.5, 1)],
)
def test_numbers_are_compared_exactly(documents: psycopg.Connection[Any], value: float, asked: float) -> None:
    row: Row = ({}, {"x": value})
    for expression in ({"x": asked}, {"x": {"gt": asked}}, {"x": {"lte": asked}}):
        assert passing(documents, [row], expression) == [0] * holds(expression, row)


@pytest.mark.parametrize("key", ["x') OR 1=1 --", "a b", "0", "%s", "%", "é", "$.x", "tags.0"])
def test_keys_of_any_characters_are_looked_up_and_nothing_else(documents: psycopg.Connection[Any], key: str) -> None:
    rows: list[Row] = [({}, {key: 1}), ({}, {}), ({}, {"x": 1}), ({}, {"tags": [1]})]
    assert passing(documents, rows, {key: 1}) == [n for n, row in enumerate(rows) if holds({key: 1}, row)]

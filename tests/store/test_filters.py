"""Filters: the SQL means what `matches` says, bad expressions are named, and no value becomes SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import SettingsError
from anabranch.store.filter_sql import compile_filters
from anabranch.store.filters import COLUMNS, MAX_VALUES, matches, parse_filters

Row = tuple[dict[str, str], dict[str, Any]]

CONNECTION = sqlite3.connect(":memory:")
CONNECTION.execute("CREATE TABLE documents (n, source, title, key, doc_id, metadata)")


def passing(rows: list[Row], filters: Mapping[str, Any] | None) -> list[int]:
    """Positions of the documents that pass, by SQLite."""
    condition = compile_filters(filters)
    CONNECTION.execute("DELETE FROM documents")
    for n, (columns, metadata) in enumerate(rows):
        values = [columns.get(name, "") for name in ("source", "title", "key", "doc_id")]
        CONNECTION.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", (n, *values, json.dumps(metadata, ensure_ascii=False))
        )
    sql = f"SELECT n FROM documents d WHERE {condition.sql} ORDER BY n"
    return [n for (n,) in CONNECTION.execute(sql, condition.parameters)]


def holds(expression: Mapping[str, Any], row: Row) -> bool:
    columns, metadata = row
    return matches(parse_filters(expression), {name: columns.get(name, "") for name in COLUMNS}, metadata)


def is_closed(pattern: str) -> bool:
    try:
        parse_filters({"x": {"glob": pattern}})
    except SettingsError:
        return False
    return True


names = st.sampled_from(["year", "kind", "a.b", "source", "title", "tags"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, -2.0]),
    st.sampled_from(["", "a", "ab", "é", "1", "a.pdf", "[a]", "!b^", "x'; --"]),
)
ordered = scalars.filter(lambda value: value is not None and not isinstance(value, bool))
operators = st.one_of(
    scalars,
    st.dictionaries(st.sampled_from(["gt", "gte", "lt", "lte"]), ordered, min_size=1, max_size=2),
    st.fixed_dictionaries({"in": st.lists(scalars, max_size=3)}),
    st.fixed_dictionaries({"exists": st.booleans()}),
    st.fixed_dictionaries({"glob": st.sampled_from(["*", "a*", "?", "*.pdf", "[ab]*", "[!a]*", "[^a]*", "é"])}),
    st.fixed_dictionaries({"glob": st.text("ab[]!^*?", max_size=6).filter(is_closed)}),
    st.fixed_dictionaries({"eq": scalars}),
)
simple = st.dictionaries(names, operators, max_size=2)
expressions = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=5,
)
metadata = st.dictionaries(
    st.sampled_from(["year", "kind", "a", "tags"]),
    st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(st.just("b"), scalars)),
)
columns = st.fixed_dictionaries(
    {"source": st.sampled_from(["a.pdf", "b/a.pdf", "x"]), "title": st.sampled_from(["a", "é"])}
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(columns, metadata), max_size=5), expressions)
def test_the_sql_agrees_with_the_evaluator(rows: list[Row], expression: dict[str, Any]) -> None:
    assert passing(rows, expression) == [n for n, row in enumerate(rows) if holds(expression, row)]


def test_nothing_to_filter_lets_everything_pass() -> None:
    rows: list[Row] = [({}, {}), ({}, {"a": 1})]
    assert passing(rows, None) == passing(rows, {}) == [0, 1]


def test_a_list_in_the_metadata_matches_by_its_items() -> None:
    rows: list[Row] = [({}, {"tags": ["red", "blue"]}), ({}, {"tags": "red"}), ({}, {"tags": []})]
    assert passing(rows, {"tags": "red"}) == [0, 1]


@pytest.mark.parametrize(
    ("expression", "those"),
    [
        ({"year": {"gte": 1848}}, [0, 1]),
        ({"year": {"gt": 1848, "lt": 2000}}, [1]),
        ({"kind": {"in": ["memo", None]}}, [0, 2]),
        ({"doi": {"exists": False}}, [1, 2]),
        ({"source": {"glob": "[!b]*.pdf"}}, [0]),
        ({"or": [{"a.b": True}, {"title": "Bees"}]}, [1, 2]),
        ({"not": {"a": {"exists": True}}}, [0, 1]),
        ({"a": "x"}, []),
    ],
)
def test_what_each_part_means(expression: dict[str, Any], those: list[int]) -> None:
    rows: list[Row] = [
        ({"source": "a.pdf"}, {"year": 1848, "kind": ["memo", "x"], "doi": None}),
        ({"source": "b.pdf", "title": "Bees"}, {"year": 1900.5}),
        ({"source": "c.txt"}, {"kind": None, "a": {"b": True}}),
    ]
    assert [n for n, row in enumerate(rows) if holds(expression, row)] == those == passing(rows, expression)


def test_true_is_not_one_and_a_number_is_not_its_digits() -> None:
    rows: list[Row] = [({}, {"x": True}), ({}, {"x": 1}), ({}, {"x": "1"}), ({}, {"x": 1.0})]
    assert passing(rows, {"x": True}) == [0]
    assert passing(rows, {"x": 1}) == [1, 3]
    assert passing(rows, {"x": "1"}) == [2]


@pytest.mark.parametrize(
    "key", ["x') OR 1=1 --", "x'", "a b", "a[0]", "$", "é", "x;DROP TABLE documents", "#", "select", "and "]
)
def test_keys_of_any_characters_are_looked_up_and_nothing_else(key: str) -> None:
    rows: list[Row] = [({}, {key: 1}), ({}, {}), ({}, {"x": 1})]
    assert passing(rows, {key: 1}) == [0]


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ([], "object"),
        ("year", "object"),
        ({"year": {"above": 1}}, "above"),
        ({"year": {}}, "year"),
        ({"year": {"gte": None}}, "year"),
        ({"year": {"gt": [1]}}, "year"),
        ({"year": {"in": 3}}, "year"),
        ({"year": {"in": [[1]]}}, "year"),
        ({"year": [1, 2]}, "year"),
        ({"year": {"exists": 1}}, "year"),
        ({"source": {"glob": 3}}, "source"),
        ({"source": {"glob": "a[b"}}, "closed"),
        ({"source": {"glob": "[]"}}, "closed"),
        ({"and": {}}, "and"),
        ({"or": []}, "or"),
        ({"not": []}, "object"),
        ({"": 1}, "name"),
        ({"a..b": 1}, "empty part"),
        ({'a"b': 1}, "name"),
        ({3: 1}, "name"),
        ({"x": 2**70}, "x"),
        ({"x": float("nan")}, "x"),
        ({"x": "\ud800"}, "characters"),
        ({"x": "a\0b"}, "characters"),
        ({"x": "y" * 5000}, "too long"),
    ],
)
def test_a_malformed_part_is_named(filters: Any, named: str) -> None:
    with pytest.raises(SettingsError, match="filter") as caught:
        compile_filters(filters)
    assert named in caught.value.message


def test_size_is_capped() -> None:
    deep: dict[str, Any] = {"x": 1}
    for _ in range(50):
        deep = {"not": deep}
    with pytest.raises(SettingsError, match="deep"):
        compile_filters(deep)
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    with pytest.raises(SettingsError, match="deep"):
        compile_filters({"and": nested})
    with pytest.raises(SettingsError, match="conditions"):
        compile_filters({"or": [{"x": n} for n in range(500)]})
    with pytest.raises(SettingsError, match="conditions"):
        compile_filters({"and": [{}] * 500})
    with pytest.raises(SettingsError, match="values"):
        compile_filters({"x": {"in": list(range(5000))}})


def test_the_largest_filter_allowed_runs() -> None:
    rows: list[Row] = [({}, {"x": MAX_VALUES - 1})]
    assert passing(rows, {"x": {"in": list(range(MAX_VALUES))}}) == [0]
    assert passing(rows, {"or": [{"x": n} for n in range(190)]}) == []

"""Filters as SQL over the documents `d` of a corpus in SQLite; no value ever becomes part of the SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anabranch.store.filters import COLUMNS, SET, And, Compare, Exists, Filter, Glob, In, Not, Or, Scalar, parse_filters

# One parameter for a list of any length: some builds of SQLite take no more than 999 question marks.
LISTED = "(SELECT value FROM json_each(?))"
"""The items of a parameter that is a JSON list, in SQL."""

_ORDERS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_TEXT, _NUMBER = "v.type = 'text'", "v.type IN ('integer', 'real')"
_WORDS = {None: "null", True: "true", False: "false"}
"""The JSON types that need no value."""


class Condition(NamedTuple):
    """A piece of SQL that is true for the documents `d` that pass, and the values of its question marks."""

    sql: str
    parameters: tuple[str | int | float, ...] = ()


def compile_filters(filters: Mapping[str, Any] | None) -> Condition:
    """Return the SQL condition of a filter expression; None and {} let everything pass.

    Raises:
        SettingsError: The expression is malformed, or larger than its caps.
    """
    return _compile(parse_filters(filters))


def _compile(part: Filter) -> Condition:
    match part:
        case And(parts):
            return _join([_compile(each) for each in parts], " AND ", empty="1")
        case Or(parts):
            return _join([_compile(each) for each in parts], " OR ", empty="0")
        case Not(inner):
            sql, parameters = _compile(inner)
            return Condition(f"NOT ({sql})", parameters)
        # `json_type` gives "null" for a key with the value null and NULL for a missing key; `json_extract` gives NULL
        # for both.
        case Exists(field, there):
            if field in COLUMNS:
                return Condition("1" if there else "0")
            return Condition(f"(json_type(d.metadata, ?) {'IS NOT' if there else 'IS'} NULL)", (_path(field),))
    return _any_value(part.field, _test(part))


def _test(part: In | Compare | Glob) -> Condition:
    """Return the condition that one value `v` passes."""
    match part:
        case In(_, values):
            return _any_of(values)
        case Compare(_, order, value):
            kind = _TEXT if isinstance(value, str) else _NUMBER
            return Condition(f"({kind} AND v.atom {_ORDERS[order]} ?)", (value,))
        case Glob(_, pattern):
            # SQLite negates a set by "^", which parsed patterns never contain.
            sqlite = SET.sub(lambda found: f"[^{found[0][2:]}" if found[0].startswith("[!") else found[0], pattern)
            return Condition(f"({_TEXT} AND v.atom GLOB ?)", (sqlite,))


def _join(conditions: Sequence[Condition], word: str, *, empty: str) -> Condition:
    parameters = tuple(value for condition in conditions for value in condition.parameters)
    sql = word.join(condition.sql for condition in conditions)
    return Condition(f"({sql})" if conditions else empty, parameters)


def _any_value(field: str, test: Condition) -> Condition:
    """Return the condition that one value `v` of a column or metadata field passes a test."""
    if field in COLUMNS:
        # The name is one of COLUMNS, so no text of the caller is in the SQL.
        values = f"(SELECT 'text' AS type, d.{field} AS atom) v"
        return Condition(f"EXISTS (SELECT 1 FROM {values} WHERE {test.sql})", test.parameters)  # noqa: S608
    # json_each gives the items of a list, the value itself where it is no list, and the members of an object.
    values = f"EXISTS (SELECT 1 FROM json_each(d.metadata, ?) v WHERE {test.sql})"  # noqa: S608
    sql = f"(json_type(d.metadata, ?) IS NOT 'object' AND {values})"
    return Condition(sql, (_path(field), _path(field), *test.parameters))


def _any_of(values: Sequence[Scalar]) -> Condition:
    words = [_WORDS[value] for value in values if value is None or isinstance(value, bool)]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    tests = {
        f"({_TEXT} AND v.atom IN {LISTED})": [value for value in values if isinstance(value, str)],
        f"({_NUMBER} AND v.atom IN {LISTED})": numbers,
        f"v.type IN {LISTED}": words,
    }
    found = [Condition(sql, (json.dumps(listed),)) for sql, listed in tests.items() if listed]
    return _join(found, " OR ", empty="0")


def _path(field: str) -> str:
    # Quoted part by part: a key with a blank, or one that begins with a digit, is no bare name in a JSON path.
    return "$" + "".join(f'."{part}"' for part in field.split("."))

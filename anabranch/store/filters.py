"""One small filter language, compiled to SQL over the documents of a corpus.

::

    {"source": "a.pdf"}                          equal; on source, title, key, doc_id, or a key of the metadata
    {"author.name": "Ada", "year": 1843}         several keys: all of them; a dot goes into an object
    {"year": {"gte": 2020, "lt": 2023}}          gt, gte, lt, lte; numbers with numbers, strings with strings
    {"kind": {"in": ["report", "memo"]}}         any of them
    {"doi": {"exists": true}}                    has the key at all
    {"source": {"glob": "reports/*.pdf"}}        * any run, ? one character, [ab] one of them; case counts
    {"and": [...]}  {"or": [...]}  {"not": {}}   combined

A metadata value that is a list matches where one of its items does. Values never become part of the SQL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from anabranch.errors import SettingsError

COLUMNS = frozenset({"source", "title", "key", "doc_id"})
"""Fields of the document itself; any other name is looked up in its metadata."""

MAX_DEPTH = 10
MAX_CONDITIONS = 200
MAX_VALUES = 1000
MAX_LENGTH = 1000
"""Most characters of a key or a string."""


class Condition(NamedTuple):
    """A piece of SQL that is true for the documents `d` that pass, and what its question marks stand for."""

    sql: str
    parameters: tuple[str | int | float, ...] = ()


EVERYTHING = Condition("1")


def compile_filters(filters: Mapping[str, Any] | None) -> Condition:
    """Return the SQL condition of a filter expression; None and {} let everything pass.

    Raises:
        SettingsError: The expression is malformed, or larger than its caps.
    """
    if filters is None:
        return EVERYTHING
    _Size().check(filters, 0)
    return _expression(filters)


class _Size:
    """Counts what an expression holds before anything is made of it."""

    def __init__(self) -> None:
        self._conditions = 0
        self._values = 0

    def check(self, expression: object, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _refused(f"is nested more than {MAX_DEPTH} deep")
        if isinstance(expression, Mapping):
            self._conditions += len(expression)
            for value in expression.values():
                self.check(value, depth + 1)
        elif isinstance(expression, list | tuple):
            for value in expression:
                self.check(value, depth + isinstance(value, list | tuple))
        else:
            self._values += 1
        if self._conditions > MAX_CONDITIONS or self._values > MAX_VALUES:
            raise _refused(f"has more than {MAX_CONDITIONS} conditions or {MAX_VALUES} values")


def _refused(problem: str) -> SettingsError:
    hint = 'For example: {"source": {"glob": "reports/*"}, "year": {"gte": 2020}}.'
    return SettingsError(f"The filter {problem}.", hint=hint)


def _expression(expression: object) -> Condition:
    if not isinstance(expression, Mapping):
        raise _refused(f"part {_shown(expression)} is not an object")
    return _joined([_entry(key, value) for key, value in expression.items()], " AND ", empty="1")


def _entry(key: object, value: object) -> Condition:
    if key == "not":
        inner = _expression(value)
        return Condition(f"NOT ({inner.sql})", inner.parameters)
    if key in {"and", "or"}:
        if not isinstance(value, list | tuple) or not value:
            raise _refused(f"part {key!r} needs a list of expressions, not {_shown(value)}")
        return _joined([_expression(each) for each in value], f" {str(key).upper()} ", empty="1")
    field = _Field(key)
    operators = value if isinstance(value, Mapping) else {"eq": value}
    if not operators:
        raise _refused(f"part {_shown(key)} has no operator")
    return _joined([field.compare(operator, operand) for operator, operand in operators.items()], " AND ", empty="1")


def _joined(conditions: Sequence[Condition], word: str, *, empty: str) -> Condition:
    if not conditions:
        return Condition(empty)
    parameters = tuple(value for condition in conditions for value in condition.parameters)
    return Condition("(" + word.join(condition.sql for condition in conditions) + ")", parameters)


class _Field:
    """One column, or one path into the metadata, as a table of values `v` with their JSON types."""

    def __init__(self, key: object) -> None:
        if not isinstance(key, str) or not key or len(key) > MAX_LENGTH or '"' in key or "\\" in key:
            raise _refused(f"key {_shown(key)} is not a name")
        self.key = _encodable(key)
        self._is_column = key in COLUMNS
        parts = key.split(".")
        if not all(parts):
            raise _refused(f"key {_shown(key)} has an empty part")
        self._path = "$" + "".join(f'."{part}"' for part in parts)

    def compare(self, operator: object, operand: object) -> Condition:
        """Return the condition for one operator."""
        if operator == "exists":
            return self._exists(operand)
        if not isinstance(operator, str) or operator not in _TESTS:
            known = ", ".join(["exists", *_TESTS])
            raise _refused(f"part {self.key!r} has the unknown operator {_shown(operator)}; known are {known}")
        test = _TESTS[operator](self.key, operand)
        if self._is_column:
            # The key is one of COLUMNS here, so nothing of the caller's is in the SQL.
            sql = f"EXISTS (SELECT 1 FROM (SELECT 'text' AS type, d.{self.key} AS atom) v WHERE {test.sql})"  # noqa: S608
            return Condition(sql, test.parameters)
        # json_each gives the items of a list, the value itself where it is no list, and the members of an object.
        values = "SELECT 1 FROM json_each(d.metadata, ?) v"
        sql = f"(json_type(d.metadata, ?) IS NOT 'object' AND EXISTS ({values} WHERE {test.sql}))"
        return Condition(sql, (self._path, self._path, *test.parameters))

    def _exists(self, operand: object) -> Condition:
        if not isinstance(operand, bool):
            raise _refused(f"part {self.key!r} needs true or false for exists, not {_shown(operand)}")
        if self._is_column:
            return Condition("1" if operand else "0")
        word = "IS NOT" if operand else "IS"
        return Condition(f"(json_type(d.metadata, ?) {word} NULL)", (self._path,))


def _equal(key: str, operand: object) -> Condition:
    return _any_of(key, [operand])


def _any_of(key: str, operand: object) -> Condition:
    if not isinstance(operand, list | tuple):
        raise _refused(f"part {key!r} needs a list for in, not {_shown(operand)}")
    by_type: dict[str, list[Any]] = {"text": [], "number": [], "word": []}
    for value in operand:
        kind, plain = _plain(key, value)
        by_type[kind].append(plain)
    tests = [
        Condition(f"{_TYPES[kind]} AND v.atom IN ({_marks(values)})", tuple(values))
        for kind, values in by_type.items()
        if values and kind != "word"
    ]
    if by_type["word"]:
        tests.append(Condition(f"v.type IN ({_marks(by_type['word'])})", tuple(by_type["word"])))
    return _joined(tests, " OR ", empty="0")


def _ordered(sign: str) -> Callable[[str, object], Condition]:
    def test(key: str, operand: object) -> Condition:
        kind, plain = _plain(key, operand)
        if kind == "word":
            raise _refused(f"part {key!r} cannot order by {_shown(operand)}")
        return Condition(f"({_TYPES[kind]} AND v.atom {sign} ?)", (plain,))

    return test


def _glob(key: str, operand: object) -> Condition:
    if not isinstance(operand, str):
        raise _refused(f"part {key!r} needs a string for glob, not {_shown(operand)}")
    pattern = _encodable(operand).replace("[!", "[^")
    return Condition("(v.type = 'text' AND v.atom GLOB ?)", (pattern,))


_TYPES = {"text": "v.type = 'text'", "number": "v.type IN ('integer', 'real')"}

_TESTS: dict[str, Callable[[str, object], Condition]] = {
    "eq": _equal,
    "in": _any_of,
    "gt": _ordered(">"),
    "gte": _ordered(">="),
    "lt": _ordered("<"),
    "lte": _ordered("<="),
    "glob": _glob,
}


def _plain(key: str, value: object) -> tuple[str, str | int | float]:
    """Return what kind of JSON value it is, and the value as SQL takes it; a word stands for its JSON type."""
    if value is None:
        return "word", "null"
    if isinstance(value, bool):
        return "word", "true" if value else "false"
    if isinstance(value, str):
        return "text", _encodable(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return "number", value
    if isinstance(value, float) and math.isfinite(value):
        return "number", value
    raise _refused(f"part {key!r} compares with {_shown(value)}, which is no string, number, boolean or null")


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _encodable(text: str) -> str:
    if len(text) > MAX_LENGTH or "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise _refused(f"part {_shown(text)} is too long, or has characters that no text has")
    return text


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."

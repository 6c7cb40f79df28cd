"""The filter language of callers, as SQL over the documents `d` of a corpus; no value ever becomes part of the SQL.

::

    {"source": "a.pdf"}                          equal; on source, title, key, doc_id, or a key of the metadata
    {"author.name": "Ada", "year": 1843}         several keys: all of them; a dot goes into an object
    {"year": {"gte": 2020, "lt": 2023}}          gt, gte, lt, lte; numbers with numbers, strings with strings
    {"kind": {"in": ["report", "memo"]}}         any of them
    {"doi": {"exists": true}}                    has the key at all
    {"source": {"glob": "reports/*.pdf"}}        * any run, ? one character, [ab] one of them; case counts
    {"and": [...]}  {"or": [...]}  {"not": {}}   combined

A metadata value that is a list matches where one of its items does; one that is an object only exists. A number is
never equal to a string, and true is not 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anabranch.errors import SettingsError

COLUMNS = frozenset({"source", "title", "key", "doc_id"})
"""Fields of the document itself; any other name is looked up in its metadata."""

# Filters come from callers of a server. SQLite gives up at a depth of 1,000 and Python at its recursion limit, both
# with errors that say nothing to them; nobody writes more than this by hand.
MAX_DEPTH = 10
MAX_CONDITIONS = 200
MAX_VALUES = 1000
MAX_LENGTH = 1000
"""Most characters of a key or a string."""

Scalar = str | int | float | bool | None

_ORDERS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_OPERATORS = {"eq": "a value", "in": "a list", "exists": "true or false", "glob": "a string"} | dict.fromkeys(
    _ORDERS, "a value"
)
"""What each of them needs."""

# SQLite keeps the type that JSON had: without a look at it, the text "10" would lie between two numbers.
_TEXT, _NUMBER = "v.type = 'text'", "v.type IN ('integer', 'real')"
_WORDS = {None: "null", True: "true", False: "false"}
"""The JSON types that are values of their own."""

# A set begins with what it leaves out or not, may hold "]" as its first character, and ends with the next one.
_SET = re.compile(r"\[[!^]?+\]?+[^\]]*+\]")


class Condition(NamedTuple):
    """A piece of SQL that is true for the documents `d` that pass, and what its question marks stand for."""

    sql: str
    parameters: tuple[str | int | float, ...] = ()


def compile_filters(filters: Mapping[str, Any] | None) -> Condition:
    """Return the SQL condition of a filter expression; None and {} let everything pass.

    Raises:
        SettingsError: The expression is malformed, or larger than its caps.
    """
    if filters is None:
        return Condition("1")
    # The size is looked at before anything is made of it: making it is what a hostile filter would make expensive.
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


def _joined(conditions: Sequence[Condition], word: str, *, empty: str) -> Condition:
    parameters = tuple(value for condition in conditions for value in condition.parameters)
    sql = word.join(condition.sql for condition in conditions)
    return Condition(f"({sql})" if conditions else empty, parameters)


def _entry(key: object, value: object) -> Condition:
    if key == "not":
        sql, parameters = _expression(value)
        return Condition(f"NOT ({sql})", parameters)
    if key in {"and", "or"}:
        if not isinstance(value, list | tuple) or not value:
            raise _refused(f"part {key!r} needs a list of expressions, not {_shown(value)}")
        return _joined([_expression(each) for each in value], f" {str(key).upper()} ", empty="1")
    field = _field(key)
    operators = value if isinstance(value, Mapping) else {"eq": value}
    if not operators:
        raise _refused(f"part {_shown(key)} has no operator")
    return _joined([_condition(field, *each) for each in operators.items()], " AND ", empty="1")


def _field(key: object) -> str:
    if not isinstance(key, str) or not key or len(key) > MAX_LENGTH or '"' in key or "\\" in key:
        raise _refused(f"key {_shown(key)} is not a name")
    if not all(key.split(".")):
        raise _refused(f"key {_shown(key)} has an empty part")
    return _encodable(key)


def _condition(field: str, operator: object, operand: object) -> Condition:
    if not isinstance(operator, str) or operator not in _OPERATORS:
        known = ", ".join(_OPERATORS)
        raise _refused(f"part {field!r} has the unknown operator {_shown(operator)}; known are {known}")
    if operator in _ORDERS:
        return _some(field, _compared(field, operator, operand))
    match operator:
        case "eq":
            return _some(field, _any_of([_scalar(field, operand)]))
        case "in" if isinstance(operand, list | tuple):
            return _some(field, _any_of([_scalar(field, each) for each in operand]))
        case "exists" if isinstance(operand, bool):
            return _exists(field, there=operand)
        case "glob" if isinstance(operand, str):
            return _some(field, Condition(f"({_TEXT} AND v.atom GLOB ?)", (_pattern(field, operand),)))
    raise _refused(f"part {field!r} needs {_OPERATORS[operator]} for {operator}, not {_shown(operand)}")


def _some(field: str, test: Condition) -> Condition:
    """Return the condition that one value `v` of a field passes a test: a column, or what is in the metadata."""
    if field in COLUMNS:
        # The name is one of COLUMNS, so nothing of the caller's is in the SQL.
        values = f"(SELECT 'text' AS type, d.{field} AS atom) v"
        return Condition(f"EXISTS (SELECT 1 FROM {values} WHERE {test.sql})", test.parameters)  # noqa: S608
    # json_each gives the items of a list, the value itself where it is no list, and the members of an object.
    values = f"EXISTS (SELECT 1 FROM json_each(d.metadata, ?) v WHERE {test.sql})"  # noqa: S608
    sql = f"(json_type(d.metadata, ?) IS NOT 'object' AND {values})"
    return Condition(sql, (_path(field), _path(field), *test.parameters))


def _exists(field: str, *, there: bool) -> Condition:
    if field in COLUMNS:
        return Condition("1" if there else "0")
    # `json_type` tells a key with the value null ("null") from a key that is not there (NULL); `json_extract` gives
    # NULL for both.
    return Condition(f"(json_type(d.metadata, ?) {'IS NOT' if there else 'IS'} NULL)", (_path(field),))


def _compared(field: str, operator: str, operand: object) -> Condition:
    value = _scalar(field, operand)
    if value is None or isinstance(value, bool):
        raise _refused(f"part {field!r} cannot order by {_shown(operand)}")
    kind = _TEXT if isinstance(value, str) else _NUMBER
    return Condition(f"({kind} AND v.atom {_ORDERS[operator]} ?)", (value,))


def _any_of(values: Sequence[Scalar]) -> Condition:
    texts = [value for value in values if isinstance(value, str)]
    # SQLite has no truth values: as parameters, true would be 1 and null equal to nothing, not even to null.
    words = [_WORDS[value] for value in values if value is None or isinstance(value, bool)]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    tests = [
        Condition(f"({_TEXT} AND v.atom IN ({_marks(texts)}))", tuple(texts)),
        Condition(f"({_NUMBER} AND v.atom IN ({_marks(numbers)}))", tuple(numbers)),
        Condition(f"v.type IN ({_marks(words)})", tuple(words)),
    ]
    return _joined([test for test in tests if test.parameters], " OR ", empty="0")


def _path(field: str) -> str:
    # Quoted part by part: a key with a blank, or one that begins with a digit, is no bare name in a JSON path.
    return "$" + "".join(f'."{part}"' for part in field.split("."))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _scalar(field: str, value: object) -> Scalar:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _encodable(value)
    # SQLite has integers of 64 bits; a larger one would be compared as a float and be equal to its neighbours.
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise _refused(f"part {field!r} compares with {_shown(value)}, which is no string, number, boolean or null")


def _pattern(field: str, pattern: str) -> str:
    # Engines differ in what a "[" without its end means; the shell writes "not" as "!", SQLite as "^" alone.
    if "[" in _SET.sub("", _encodable(pattern)):
        raise _refused(f"part {field!r} has a pattern with a [ that is not closed: {_shown(pattern)}")
    return _SET.sub(lambda found: f"[^{found[0][2:]}" if found[0].startswith("[!") else found[0], pattern)


def _encodable(text: str) -> str:
    # A NUL ends a text for SQLite and not for Python, and a lone surrogate cannot be sent to it at all.
    if len(text) > MAX_LENGTH or "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise _refused(f"part {_shown(text)} is too long, or has characters that no text has")
    return text


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."

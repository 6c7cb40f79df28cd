"""The filter language of callers, parsed once into a small tree, which each store translates for its engine.

::

    {"source": "a.pdf"}                          equal; on source, title, key, doc_id, or a key of the metadata
    {"author.name": "Ada", "year": 1843}         several keys: all of them; a dot goes into an object
    {"year": {"gte": 2020, "lt": 2023}}          gt, gte, lt, lte; numbers with numbers, strings with strings
    {"kind": {"in": ["report", "memo"]}}         any of them
    {"doi": {"exists": true}}                    has the key at all
    {"source": {"glob": "reports/*.pdf"}}        * any run, ? one character, [ab] one of them; case counts
    {"and": [...]}  {"or": [...]}  {"not": {}}   combined

A metadata value that is a list matches where one of its items does; one that is an object only exists.
`matches` says what each part means; `anabranch.store.filter_sql` is the same for SQLite.
"""

from __future__ import annotations

import math
import operator as signs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from anabranch.errors import SettingsError

COLUMNS = frozenset({"source", "title", "key", "doc_id"})
"""Fields of the document itself; any other name is looked up in its metadata."""

# Filters come from callers of a server. SQLite fails at a depth of 1,000 and Python at its recursion limit, with errors
# that do not help them.
MAX_DEPTH = 10
MAX_CONDITIONS = 200
MAX_VALUES = 1000
MAX_LENGTH = 1000
"""Most characters of a key or a string."""

Scalar = str | int | float | bool | None

ORDERS: dict[str, Callable[[Any, Any], bool]] = {"gt": signs.gt, "gte": signs.ge, "lt": signs.lt, "lte": signs.le}

OPERATORS = {"eq": "a value", "in": "a list", "exists": "true or false", "glob": "a string"} | dict.fromkeys(
    ORDERS, "a value"
)
"""The operand that each operator needs."""

# A set may begin with its negation, may hold "]" as its first character, and ends with the next "]".
SET = re.compile(r"\[[!^]?+\]?+[^\]]*+\]")


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts; true where there are none."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts, at least."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Not the part."""

    part: Filter


@dataclass(frozen=True, slots=True)
class In:
    """A field has one of the values; a number is never equal to a string, and true is not 1."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """A field is greater or less than a value of its kind; `order` is a key of `ORDERS`. Strings go by code point."""

    field: str
    order: str
    value: str | int | float


@dataclass(frozen=True, slots=True)
class Exists:
    """A field is there, be it null; or it is not there."""

    field: str
    there: bool


@dataclass(frozen=True, slots=True)
class Glob:
    """A string matches a pattern as `fnmatch.fnmatchcase` understands it."""

    field: str
    pattern: str


Filter = And | Or | Not | In | Compare | Exists | Glob


def parse_filters(filters: Mapping[str, Any] | None) -> Filter:
    """Return a filter expression as a tree; None and {} let everything pass.

    Raises:
        SettingsError: The expression is malformed, or larger than its caps.
    """
    # The size is checked first, because building the tree of a hostile filter is the expensive part.
    if filters is None:
        return And(())
    _Size().check(filters, 0)
    return _expression(filters)


def matches(part: Filter, columns: Mapping[str, str], metadata: Mapping[str, Any]) -> bool:
    """Tell whether a document passes.

    Args:
        part: A filter.
        columns: The document's own fields, all of `COLUMNS`.
        metadata: Values as in JSON: keys are strings, numbers are finite.
    """
    match part:
        case And(parts):
            return all(matches(each, columns, metadata) for each in parts)
        case Or(parts):
            return any(matches(each, columns, metadata) for each in parts)
        case Not(inner):
            return not matches(inner, columns, metadata)
        case Exists(field, there):
            return (field in COLUMNS or _find_value(field, metadata) is not _ABSENT) == there
    return any(_passes(part, each) for each in _values(part.field, columns, metadata))


def _passes(part: In | Compare | Glob, found: Scalar) -> bool:
    match part:
        case In(_, values):
            # Python takes True for 1 and 1.0 for 1; JSON and SQLite tell truth values from numbers.
            return any(_kind(found) == _kind(value) and found == value for value in values)
        case Compare(_, order, value):
            return _kind(found) == _kind(value) and ORDERS[order](found, value)
        case Glob(_, pattern):
            return isinstance(found, str) and fnmatchcase(found, pattern)


_ABSENT = object()


def _find_value(field: str, metadata: Mapping[str, Any]) -> Any:  # noqa: ANN401  # JSON of any shape
    value: Any = metadata
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _values(field: str, columns: Mapping[str, str], metadata: Mapping[str, Any]) -> list[Scalar]:
    found = columns[field] if field in COLUMNS else _find_value(field, metadata)
    # An object yields nothing: it has no order.
    items = found if isinstance(found, list | tuple) else [found]
    return [item for item in items if item is None or isinstance(item, str | int | float)]


def _kind(value: Scalar) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    return "text" if isinstance(value, str) else "number"


class _Size:
    """Checks the size of an expression before it is parsed."""

    def __init__(self) -> None:
        self._conditions = 0
        self._values = 0

    def check(self, expression: object, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _filter_error(f"is nested more than {MAX_DEPTH} deep")
        if isinstance(expression, Mapping):
            # An empty one is a part of the statement, too.
            self._conditions += max(len(expression), 1)
            for value in expression.values():
                self.check(value, depth + 1)
        elif isinstance(expression, list | tuple):
            for value in expression:
                self.check(value, depth + isinstance(value, list | tuple))
        else:
            self._values += 1
        if self._conditions > MAX_CONDITIONS or self._values > MAX_VALUES:
            raise _filter_error(f"has more than {MAX_CONDITIONS} conditions or {MAX_VALUES} values")


def _filter_error(problem: str) -> SettingsError:
    hint = 'For example: {"source": {"glob": "reports/*"}, "year": {"gte": 2020}}.'
    return SettingsError(f"The filter {problem}.", hint=hint)


def _expression(expression: object) -> Filter:
    if not isinstance(expression, Mapping):
        raise _filter_error(f"part {_quote(expression)} is not an object")
    return And(tuple(_entry(key, value) for key, value in expression.items()))


def _entry(key: object, value: object) -> Filter:
    if key == "not":
        return Not(_expression(value))
    if key in {"and", "or"}:
        if not isinstance(value, list | tuple) or not value:
            raise _filter_error(f"part {key!r} needs a list of expressions, not {_quote(value)}")
        parts = tuple(_expression(each) for each in value)
        return And(parts) if key == "and" else Or(parts)
    field = _field(key)
    operators = value if isinstance(value, Mapping) else {"eq": value}
    if not operators:
        raise _filter_error(f"part {_quote(key)} has no operator")
    return And(tuple(_condition(field, operator, operand) for operator, operand in operators.items()))


def _field(key: object) -> str:
    if not isinstance(key, str) or not key or len(key) > MAX_LENGTH or '"' in key or "\\" in key:
        raise _filter_error(f"key {_quote(key)} is not a name")
    if not all(key.split(".")):
        raise _filter_error(f"key {_quote(key)} has an empty part")
    return _encodable(key)


def _condition(field: str, operator: object, operand: object) -> Filter:
    if not isinstance(operator, str) or operator not in OPERATORS:
        known = ", ".join(OPERATORS)
        raise _filter_error(f"part {field!r} has the unknown operator {_quote(operator)}; known are {known}")
    if operator in ORDERS:
        value = _scalar(field, operand)
        if value is None or isinstance(value, bool):
            raise _filter_error(f"part {field!r} cannot order by {_quote(operand)}")
        return Compare(field, operator, value)
    match operator:
        case "eq":
            return In(field, (_scalar(field, operand),))
        case "in" if isinstance(operand, list | tuple):
            return In(field, tuple(_scalar(field, each) for each in operand))
        case "exists" if isinstance(operand, bool):
            return Exists(field, operand)
        case "glob" if isinstance(operand, str):
            return Glob(field, _pattern(field, operand))
    raise _filter_error(f"part {field!r} needs {OPERATORS[operator]} for {operator}, not {_quote(operand)}")


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
    raise _filter_error(f"part {field!r} compares with {_quote(value)}, which is not a string, number, boolean or null")


def _pattern(field: str, pattern: str) -> str:
    # Engines disagree about a "[" without an end; SQLite writes "not" as "^", the shell as "!".
    if "[" in SET.sub("", _encodable(pattern)):
        raise _filter_error(f"part {field!r} has a pattern with a [ that is not closed: {_quote(pattern)}")
    return SET.sub(lambda found: f"[!{found[0][2:]}" if found[0].startswith("[^") else found[0], pattern)


def _encodable(text: str) -> str:
    # A NUL ends a text for SQLite and not for Python, and a lone surrogate cannot be sent to it at all.
    if len(text) > MAX_LENGTH or "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise _filter_error(f"part {_quote(text)} is too long or has characters that cannot be stored")
    return text


def _quote(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."

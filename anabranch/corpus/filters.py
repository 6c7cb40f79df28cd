"""One small expression over documents, shared by the command line, the code and the server.

::

    {"source": "report.pdf"}                          equal; several keys in one object must all hold
    {"year": {"gte": 2020, "lt": 2023}}               range
    {"kind": {"in": ["survey", "test"]}}              one of
    {"source": {"glob": "reports/*"}}                 shell pattern
    {"author": {"exists": true}}                      present or absent
    {"and": [...]}  {"or": [...]}  {"not": {...}}     combinations

Keys are `source`, `title`, `key`, `doc_id`, or a metadata key (dots go into nested objects). The expression becomes
parameterised SQL: neither a key nor a value is ever part of the statement's text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anabranch.errors import SettingsError

COLUMNS = {"source": "d.source", "title": "d.title", "key": "d.key", "doc_id": "d.doc_id"}
COMPARISONS = {"eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
MAX_DEPTH = 8
MAX_TERMS = 256

Where = tuple[str, list[Any]]


def check_filters(expression: Any) -> dict[str, Any] | None:  # noqa: ANN401  # a caller may send anything
    """Return the expression if it can be used, None where there is none.

    Raises:
        SettingsError: It is malformed; the message names the part.
    """
    if expression is None or expression == {}:
        return None
    if not isinstance(expression, Mapping):
        msg = f"The filter is {type(expression).__name__}, not an object."
        raise SettingsError(msg, hint='Write it like {"source": "report.pdf"}.')
    compile_filters(expression)
    return dict(expression)


def compile_filters(expression: Mapping[str, Any]) -> Where:
    """Return an SQL condition on the table `documents d` and its parameters.

    Raises:
        SettingsError: The expression is malformed, too deep or too long.
    """
    sql, parameters = _object(expression, 0)
    if len(parameters) > 4 * MAX_TERMS:
        msg = f"The filter has more than {MAX_TERMS} terms."
        raise SettingsError(msg, hint="Use a pattern ({'glob': ...}) or metadata instead of a long list.")
    return sql, parameters


def _object(expression: Any, depth: int) -> Where:  # noqa: ANN401
    if depth > MAX_DEPTH:
        raise _malformed("a filter nested deeper than 8", expression)
    if not isinstance(expression, Mapping) or not expression:
        raise _malformed("an object with at least one key was expected", expression)
    return _joined([_entry(key, value, depth) for key, value in expression.items()], "AND")


def _entry(key: Any, value: Any, depth: int) -> Where:  # noqa: ANN401
    if not isinstance(key, str) or not key:
        raise _malformed("a key is not text", key)
    if key in ("and", "or"):
        if not isinstance(value, list) or not value:
            raise _malformed(f"{key!r} needs a list", value)
        return _joined([_object(item, depth + 1) for item in value], key.upper())
    if key == "not":
        sql, parameters = _object(value, depth + 1)
        # A comparison with an absent key is NULL; "not" of it must hold, or absent documents vanish from both sides.
        return f"NOT coalesce({sql}, 0)", parameters
    if isinstance(value, Mapping):
        if not value:
            raise _malformed(f"{key!r} has no condition", value)
        return _joined([_condition(key, name, operand) for name, operand in value.items()], "AND")
    return _condition(key, "eq", value)


def _condition(key: str, name: Any, operand: Any) -> Where:  # noqa: ANN401
    target, parameters = _target(key)
    if name == "exists":
        if not isinstance(operand, bool):
            raise _malformed("'exists' needs true or false", operand)
        return f"{target} IS {'NOT ' if operand else ''}NULL", parameters
    if name == "in":
        if not isinstance(operand, list) or not operand or len(operand) > MAX_TERMS:
            raise _malformed(f"'in' needs a list of 1 to {MAX_TERMS} values", operand)
        marks = ", ".join("?" * len(operand))
        return f"{target} IN ({marks})", [*parameters, *(_scalar(item) for item in operand)]
    if name == "glob":
        if not isinstance(operand, str):
            raise _malformed("'glob' needs a pattern", operand)
        return f"{target} GLOB ?", [*parameters, operand]
    if name not in COMPARISONS:
        raise _malformed(
            f"there is no condition {name!r}; known: {', '.join([*COMPARISONS, 'in', 'glob', 'exists'])}", key
        )
    if name in ("eq", "ne") and operand is None:
        return f"{target} IS {'NOT ' if name == 'ne' else ''}NULL", parameters
    value = _scalar(operand)
    if name in ("eq", "ne"):
        return f"{target} {COMPARISONS[name]} ?", [*parameters, value]
    # SQLite orders every number before every text; a range only holds between values of one kind.
    kind = "('text')" if isinstance(value, str) else "('integer', 'real')"
    return f"(typeof({target}) IN {kind} AND {target} {COMPARISONS[name]} ?)", [*parameters, *parameters, value]


def _target(key: str) -> Where:
    if key in COLUMNS:
        return COLUMNS[key], []
    path = "$" + "".join("." + json.dumps(part, ensure_ascii=False) for part in key.split("."))
    if '\\"' in path or len(key) > 200:
        raise _malformed("a metadata key may not hold quotes, and has at most 200 characters", key[:80])
    return "json_extract(d.metadata, ?)", [path]


def _scalar(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str | int | float):
        return value
    raise _malformed("a value is neither text, number nor true/false", value)


def _joined(parts: list[Where], word: str) -> Where:
    parameters = [parameter for _, given in parts for parameter in given]
    return "(" + f" {word} ".join(sql for sql, _ in parts) + ")", parameters


def _malformed(what: str, part: Any) -> SettingsError:  # noqa: ANN401
    msg = f"The filter cannot be read: {what} (at {str(part)[:80]!r})."
    return SettingsError(msg, hint='Examples: {"source": "a.pdf"}, {"year": {"gte": 2020}}, {"or": [{...}, {...}]}.')

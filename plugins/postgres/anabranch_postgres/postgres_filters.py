"""Filters as SQL over the documents `d` of a corpus in PostgreSQL; no value ever becomes part of the SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, NamedTuple

from anabranch.store.filters import SET, And, Compare, Exists, Filter, Glob, In, Not, Or, parse_filters

_ORDERS: dict[str, LiteralString] = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

_ALL: LiteralString = "true"

_COLUMNS: dict[str, LiteralString] = {
    "source": "jsonb_build_array(d.source)",
    "title": "jsonb_build_array(d.title)",
    "key": "jsonb_build_array(d.key)",
    "doc_id": "jsonb_build_array(d.doc_id)",
}


# The SQL is a LiteralString, so type checkers keep callers' text out of it.
class Clause(NamedTuple):
    """A piece of SQL that is true for the documents `d` that pass, and the values of its placeholders."""

    sql: LiteralString
    parameters: tuple[Any, ...] = ()

    @property
    def passes_all(self) -> bool:
        """Whether it narrows nothing, so that it can be left out."""
        return self.sql == _ALL


def postgres_clause(filters: Mapping[str, Any] | None) -> Clause:
    """Return the SQL condition of a filter expression; None and {} let everything pass.

    Raises:
        SettingsError: The expression is malformed, or larger than its caps.
    """
    return _compile(parse_filters(filters))


def _compile(part: Filter) -> Clause:
    match part:
        case And(parts):
            return _join([_compile(each) for each in parts], " AND ", empty=_ALL)
        case Or(parts):
            return _join([_compile(each) for each in parts], " OR ", empty="false")
        case Not(inner):
            sql, parameters = _compile(inner)
            return Clause(f"NOT ({sql})", parameters)
        case Exists(field, there):
            if field in _COLUMNS:
                return Clause(_ALL if there else "false")
            found = _field_value(field)
            return Clause(f"({found.sql} IS {'NOT ' if there else ''}NULL)", found.parameters)
    values, test = _values(part.field), _test(part)
    sql = f"EXISTS (SELECT 1 FROM jsonb_array_elements({values.sql}) v WHERE {test.sql})"  # noqa: S608
    return Clause(sql, (*values.parameters, *test.parameters))


def _join(clauses: Sequence[Clause], word: LiteralString, *, empty: LiteralString) -> Clause:
    parameters = tuple(value for clause in clauses for value in clause.parameters)
    return Clause(f"({word.join(clause.sql for clause in clauses)})" if clauses else empty, parameters)


def _field_value(field: str) -> Clause:
    """Return the SQL of a metadata field, NULL if it is missing."""
    # One arrow per part: a path (#>) would take a number for the index of a list.
    names = field.split(".")
    return Clause(f"(d.metadata{' -> %s::text' * len(names)})", tuple(names))


def _values(field: str) -> Clause:
    """Return the values of a field as one list: the items of a list, and nothing for an object or a missing field."""
    if column := _COLUMNS.get(field):
        return Clause(column)
    found = _field_value(field)
    sql = (
        f"CASE coalesce(jsonb_typeof({found.sql}), 'object') WHEN 'object' THEN '[]'::jsonb "
        f"WHEN 'array' THEN {found.sql} ELSE jsonb_build_array({found.sql}) END"
    )
    return Clause(sql, found.parameters * 3)


def _test(part: In | Compare | Glob) -> Clause:
    """Return the condition that one value `v` passes."""
    match part:
        case In(_, values):
            # JSON's equality: 1 equals 1.0, and neither equals true.
            return Clause("v = ANY(%s::jsonb[])", ([json.dumps(value) for value in values],))
        # CASE, because PostgreSQL may evaluate both sides of an AND, and casting text to a number raises.
        case Compare(_, order, str(value)):
            # By code point, whatever the database's collation.
            return _if_kind("string", f"(v #>> '{{}}') COLLATE \"C\" {_ORDERS[order]} %s", value)
        case Compare(_, order, value):
            return _if_kind("number", f"(v #>> '{{}}')::numeric {_ORDERS[order]} %s::numeric", repr(value))
        case Glob(_, pattern):
            return _if_kind("string", "(v #>> '{}') COLLATE \"C\" ~ %s", _regex(pattern))


def _if_kind(kind: LiteralString, sql: LiteralString, value: str) -> Clause:
    return Clause(f"CASE WHEN jsonb_typeof(v) = '{kind}' THEN {sql} ELSE false END", (value,))


def _regex(pattern: str) -> str:
    """Return a shell pattern as one of PostgreSQL's (chapter 9.7.3), with every character as its code point."""
    parts: list[str] = []
    end = 0
    for found in SET.finditer(pattern):
        parts += map(_character, pattern[end : found.start()])
        parts.append(_set(found[0][1:-1]))
        end = found.end()
    parts += map(_character, pattern[end:])
    # *** selects an "advanced" expression, in which a dot is any character, and ^ and $ match only the ends of the
    # text.
    return f"***:^(?:{''.join(parts)})$"


def _character(char: str) -> str:
    return {"*": ".*", "?": "."}.get(char, f"\\U{ord(char):08x}")


def _set(inside: str) -> str:
    is_negated = inside.startswith("!")
    chars = inside[is_negated:]
    ranges: list[str] = []
    place = 0
    while place < len(chars):
        first = last = chars[place]
        if chars[place + 1 : place + 2] == "-" and place + 2 < len(chars):
            last = chars[place + 2]
        place += 3 if place + 2 < len(chars) and chars[place + 1] == "-" else 1
        # As in Python's `fnmatch`, a backward range is empty.
        if first <= last:
            ranges.append(f"\\U{ord(first):08x}-\\U{ord(last):08x}")
    if not ranges:
        return "." if is_negated else "(?!)"
    return f"[{'^' if is_negated else ''}{''.join(ranges)}]"

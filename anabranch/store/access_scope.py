"""Who may read a document: the access tags of the caller, as a condition in the SQL of a folder's database."""

from __future__ import annotations

import json
from typing import Any

from anabranch.store.filter_sql import LISTED, compile_filters
from anabranch.store.protocol import Scope


def scope_condition(scope: Scope) -> tuple[str, list[Any]]:
    """Return the SQL condition of a scope on documents: access first, then the caller's filters.

    Raises:
        SettingsError: The filters are malformed.
    """
    # Filters are joined to access by AND, so they can never widen it.
    parts: list[str] = ["d.access = '[]'"]
    parameters: list[Any] = []
    if scope.access:
        parts.append(f"EXISTS (SELECT 1 FROM json_each(d.access) WHERE value IN {LISTED})")  # noqa: S608  # a constant
        parameters.append(json.dumps(scope.access))
    where = f"({' OR '.join(parts)})"
    if scope.filters:
        narrowed = compile_filters(scope.filters)
        return f"{where} AND {narrowed.sql}", [*parameters, *narrowed.parameters]
    return where, parameters

"""From the settings in a table to those that the graph takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from anabranch.errors import CollectionError
from anabranch.evaluation.measures import cutoff_of, measure_of
from anabranch.evaluation.score_tables import Table
from nodes.settings import Context, in_force

Values = dict[str, Any]

LONGEST_SHOWN = 60


def settings_of(table: Table, given: Mapping[str, Any], *, reproducible: bool, where: str) -> dict[str, Values]:
    """Return the settings of each configuration: its own over those of the table, and what was given over both.

    Args:
        table: With its configurations.
        given: Settings of the command line.
        reproducible: Whether the environment counts for nothing, so that a table says the same everywhere.
        where: What to call the table in a message.

    Raises:
        CollectionError: A setting is unknown or out of bounds.
    """
    base = _defaults() if reproducible else {}
    found: dict[str, Values] = {}
    for name, own in table.configurations.items():
        chosen = {**table.settings, **own}
        if "corpus" in {*chosen, *given}:
            msg = f"{where}: the configuration {name!r} names a corpus; that is what the collection is for."
            raise CollectionError(msg, hint="Leave it out.")
        found[name] = {**base, **chosen, **given}
        _check(found[name], name, where)
    return found


def context_of(values: Values, corpus: str) -> Context:
    """Return the context of a configuration on one corpus."""
    return in_force(Context(**{**values, "corpus": corpus}))


def settings_shown(values: Values) -> str:
    """Return what differs from the defaults, as JSON by name: what a reader has to set to get the same."""
    context, defaults = context_of(values, "-"), _defaults()
    differing = {name: getattr(context, name) for name in defaults if getattr(context, name) != defaults[name]}
    return ", ".join(f"{name}={_short(value)}" for name, value in differing.items()) or "the defaults"


def measured_too_far(table: Table, settings: Mapping[str, Values]) -> Iterator[str]:
    """Yield which configurations keep fewer passages than a metric looks at."""
    if table.kind == "spans":
        return
    furthest = max(table.metrics, key=lambda name: cutoff_of(measure_of(name)))
    for name, values in settings.items():
        kept = context_of(values, "-").top_k
        if kept < cutoff_of(measure_of(furthest)):
            yield f"{name} keeps {kept} passages (top_k), fewer than {furthest} looks at"


def _defaults() -> Values:
    fields = {name: field for name, field in Context.model_fields.items() if name != "corpus"}
    return {name: field.get_default(call_default_factory=True) for name, field in fields.items()}


def _check(values: Values, configuration: str, where: str) -> None:
    try:
        context_of(values, "-")
    except ValidationError as error:
        told = [
            f"{'.'.join(map(str, item['loc']))}: {item['msg'][:1].lower()}{item['msg'][1:]}" for item in error.errors()
        ]
        msg = f"{where}: the configuration {configuration!r} cannot be used: {'; '.join(told)}."
        raise CollectionError(msg, hint="The guide's page on settings has the names and bounds.") from error


def _short(value: Any) -> str:  # noqa: ANN401  # a setting
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."

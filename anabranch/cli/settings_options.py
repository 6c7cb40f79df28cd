"""From options to a Context: what is given on the command line, over the environment, over the defaults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anabranch.errors import SettingsError

if TYPE_CHECKING:
    from nodes.settings import Context

MAX_SHOWN = 80


def context_of(sets: Sequence[str] | None = None, **options: str | None) -> Context:
    """Return the settings in force.

    Args:
        sets: `key=value` pairs, each value JSON if it parses and text otherwise; the last one of a key counts.
        options: Settings that have an option of their own; None where the option was not given.

    Raises:
        SettingsError: An unknown key, a value out of bounds, a pair without '=', or a setting given both ways.
    """
    from nodes.settings import Context
    from nodes.support.settings_precedence import given_settings, in_force

    # A later pair counts: an alias of the shell may hold the first.
    given = dict(_pair(pair) for pair in sets or ())
    chosen = {name: value for name, value in options.items() if value is not None}
    # Which of the two was meant nobody can tell.
    if twice := [name for name in chosen if name in given]:
        msg = f"The setting {twice[0]!r} is given twice, with --set and with --{twice[0].replace('_', '-')}."
        raise SettingsError(msg, hint="Leave one out.")
    typed = {name: _value(Context, name, text) for name, text in given.items()}
    return in_force(given_settings({**chosen, **typed}))


def filters_of(text: str | None) -> dict[str, Any] | None:
    """Return the filter expression that `--filter` gives as JSON."""
    if text is None:
        return None
    try:
        filters = json.loads(text)
    except ValueError as error:
        msg = f"--filter {_short(text)} is not JSON: {error}."
        raise SettingsError(msg, hint="""Quote it for the shell: --filter '{"source": "notes.md"}'.""") from error
    if not isinstance(filters, dict):
        msg = f"--filter {_short(text)} is not a JSON object."
        raise SettingsError(msg, hint="""Write it as --filter '{"source": "notes.md"}'.""")
    return filters


def _pair(pair: str) -> tuple[str, str]:
    key, equals, text = pair.partition("=")
    if not equals or not key.strip():
        msg = f"--set {_short(pair)} is not of the form key=value."
        raise SettingsError(msg, hint="For example: --set top_k=20.")
    return key.strip(), text


def _value(model: type[Context], name: str, text: str) -> Any:  # noqa: ANN401  # a JSON value
    """Return what a value means as JSON, or as it was typed where the setting is text: a corpus may be called 2024."""
    try:
        # NaN and Infinity are no JSON; as text the setting's own bounds refuse them, with its name.
        value = json.loads(text, parse_constant=str)
    except ValueError:
        return text
    # `null` is JSON for a text as well: it takes back what the environment has set.
    textual = name in model.model_fields and model.model_fields[name].annotation in (str, str | None)
    return text if textual and not isinstance(value, str | None) else value


def _short(value: Any) -> str:  # noqa: ANN401  # whatever was given
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."

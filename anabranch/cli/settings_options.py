"""From options to a Context: what is given on the command line, over the environment, over the defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

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
    from nodes.support.settings_precedence import in_force

    given = dict(_pair(pair) for pair in sets or ())
    chosen = {name: value for name, value in options.items() if value is not None}
    if twice := [name for name in chosen if name in given]:
        msg = f"The setting {twice[0]!r} is given twice, with --set and with --{twice[0].replace('_', '-')}."
        raise SettingsError(msg, hint="Leave one out.")
    _refuse_unknown(given, list(Context.model_fields))
    try:
        context = Context(**chosen, **{name: _value(Context, name, text) for name, text in given.items()})
    except ValidationError as error:
        raise SettingsError(" ".join(_problem(Context, item) for item in error.errors())) from error
    return in_force(context)


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
    textual = model.model_fields[name].annotation in (str, str | None)
    return text if textual and not isinstance(value, str | None) else value


def _refuse_unknown(given: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [name for name in given if name not in known]
    if not unknown:
        return
    # Dashes are how options are spelled, so `--set top-k=3` is the likeliest slip.
    near = [match for name in unknown for match in get_close_matches(name.lower().replace("-", "_"), known, n=3)]
    hint = f"Did you mean {_listed(near)}?" if near else f"The settings are {_listed(known)}."
    msg = f"There is no setting {_listed([repr(name) for name in unknown])}."
    raise SettingsError(msg, hint=hint)


def _problem(model: type[Context], item: Any) -> str:  # noqa: ANN401  # pydantic's ErrorDetails
    name = str(item["loc"][0]) if item["loc"] else ""
    value = "what was given" if name == "model_kwargs" else _short(item["input"])  # it may hold a key
    what = item["msg"][:1].lower() + item["msg"][1:]
    field = model.model_fields.get(name)
    means = f" ({field.description})" if field is not None and field.description else ""
    return f"The setting {name!r} cannot be {value}: {what}.{means}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _short(value: Any) -> str:  # noqa: ANN401  # whatever was given
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."

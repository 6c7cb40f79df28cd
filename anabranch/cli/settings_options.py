"""Make a Context from options: the command line goes before the environment, the environment before the defaults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

from anabranch.errors import SettingsError

if TYPE_CHECKING:
    from anabranch.agent.nodes.settings import Context

MAX_SHOWN = 80


_OPTIONS = {
    "corpus": "--corpus or --docs", "top_k": "-k", "infer_filter": "--no-inferred-filter", "synthesis": "--rows",
}  # fmt: skip
"""Options that set a setting of another name."""


def context_of(sets: Sequence[str] | None = None, **options: object) -> Context:
    """Return the settings in force.

    Args:
        sets: `key=value` pairs, each value JSON if it parses and text otherwise.
        options: Settings that have an option of their own; None where the option was not given.

    Raises:
        SettingsError: An unknown key, a value out of bounds, a pair without '=', or a setting given twice.
    """
    from anabranch.agent.graph.settings_precedence import resolve_settings
    from anabranch.agent.nodes.settings import Context

    chosen: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    ways = {name: _OPTIONS.get(name, f"--{name.replace('_', '-')}") for name in chosen}
    for name, text in map(_parse_pair, sets or ()):
        # Nobody can tell which of the two was meant.
        if name in ways:
            msg = f"The setting {name!r} is given twice, with {ways[name]} and with --set {name}=..."
            raise SettingsError(msg, hint="Leave one out.")
        chosen[name], ways[name] = _parse_value(Context, name, text), f"--set {name}=..."
    return resolve_settings(Context(**chosen))


def asking_context(
    sets: Sequence[str] | None, *, base_url: str | None, k: int | None = None, **options: object
) -> Context:
    """Return the settings of a command that asks, as `context_of` does.

    Args:
        sets: See `context_of`.
        base_url: `--base-url`, refused where no model is named.
        k: Passages to find (`-k`), which also raises every shorter list; None for `top_k`.
        options: See `context_of`.
    """
    context = context_of(sets, base_url=base_url, top_k=k, **options)
    if base_url is not None and context.model is None:
        msg = f"--base-url names the server {base_url}, but no model is given."
        hint = "Add --model NAME; `anabranch doctor --model x --base-url URL` lists the models of a server."
        raise SettingsError(msg, hint=hint)
    return context if k is None else with_at_least(context, top_k=k, depth=k, rerank_depth=k)


def with_at_least(context: Context, *, top_k: int, **least: int) -> Context:
    """Return the context with `top_k` passages and each list at least as long as in `least`, within their bounds."""
    from anabranch.agent.graph.settings_precedence import resolve_settings
    from anabranch.agent.nodes.settings import Context

    wanted = {"top_k": top_k, **{name: max(value, getattr(context, name)) for name, value in least.items()}}
    limits = {
        name: [limit.le for limit in Context.model_fields[name].metadata if hasattr(limit, "le")] for name in wanted
    }
    changed = {name: min(value, *limits[name]) for name, value in wanted.items()}
    # Created anew, because `model_copy` checks no bounds.
    return resolve_settings(Context(**{**context.explicit, **changed}))


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


def _parse_pair(pair: str) -> tuple[str, str]:
    key, equals, text = pair.partition("=")
    if not equals or not key.strip():
        msg = f"--set {_short(pair)} is not key=value."
        raise SettingsError(msg, hint="For example: --set top_k=20.")
    return key.strip(), text


def _parse_value(model: type[Context], name: str, text: str) -> Any:  # noqa: ANN401  # a JSON value
    """Return a value parsed as JSON, but as typed if the setting is text: a corpus may be called 2024."""
    if name.endswith("_prompt") and text.startswith("@"):
        return _read_prompt(name, text[1:])
    annotation = model.model_fields[name].annotation if name in model.model_fields else None
    try:
        # NaN and Infinity are not JSON; as text, the setting's own validation refuses them.
        value = json.loads(text, parse_constant=str)
    except ValueError:
        # A list may come without brackets and quotes, which a shell removes.
        return [part.strip() for part in text.split(",")] if get_origin(annotation) is tuple else text
    # `null` counts as JSON also for text: it overrides the environment.
    textual = annotation in (str, str | None)
    return text if textual and not isinstance(value, str | None) else value


def _read_prompt(name: str, path: str) -> str:
    """Return the prompt in a file, without the newline that editors add."""
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\n")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        msg = f"--set {name}=@{path}: the file cannot be read: {why}."
        raise SettingsError(msg, hint="After @, the name of a file is expected.") from error


def _short(value: Any) -> str:  # noqa: ANN401  # whatever was given
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."

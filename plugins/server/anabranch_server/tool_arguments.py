"""Describes wrong arguments of a tool call to the model that made it, and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_NAMED = 5
LONGEST_NAME = 40

_KINDS: Mapping[str, str] = {"string": "text", "integer": "whole number", "object": "JSON object"}


def argument_faults(
    tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any], wrong: Sequence[str] = ()
) -> str:
    """Return the wrong arguments and what the tool takes; empty if no argument is missing, unknown or wrong.

    Args:
        tool: Its name.
        schema: JSON schema of its arguments.
        arguments: Those of the call.
        wrong: Names of arguments with invalid values.
    """
    known, required = schema["properties"], schema.get("required", ())
    unknown = [name for name in arguments if name not in known]
    faults = [f"`{name}` is missing" for name in required if name not in arguments]
    faults += [f"`{name[:LONGEST_NAME]}` is not an argument" for name in unknown[:MOST_NAMED]]
    faults += [f"`{name}` has an invalid value" for name in dict.fromkeys(wrong) if name in arguments]
    if not faults:
        return ""
    allowed = ", ".join(_describe(name, field, is_required=name in required) for name, field in known.items())
    return f"{'; '.join(faults)}. `{tool}` takes {allowed}."


def _describe(name: str, field: Mapping[str, Any], *, is_required: bool) -> str:
    # What may be null has its kind inside.
    field = next((each for each in field.get("anyOf", ()) if each.get("type") != "null"), field)
    kind = _KINDS.get(field.get("type", ""), field.get("type", "any value"))
    if "minimum" in field and "maximum" in field:
        kind += f" from {field['minimum']} to {field['maximum']}"
    if "maxLength" in field:
        kind += f" of at most {field['maxLength']} characters"
    return f"`{name}` ({kind}{'' if is_required else ', may be left out'})"

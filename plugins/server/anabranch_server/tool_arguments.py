"""What is wrong with the arguments of a call, for the model that called it: which ones, and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_NAMED = 5
LONGEST_NAME = 40

_KINDS: Mapping[str, str] = {"string": "text", "integer": "whole number"}


def argument_faults(
    tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any], wrong: Sequence[str] = ()
) -> str:
    """Return what is wrong and what the tool takes, or nothing where no argument is missing, unknown or wrong.

    Args:
        tool: Its name.
        schema: JSON schema of its arguments.
        arguments: Those of the call.
        wrong: Names of those whose values cannot be used.
    """
    known, required = schema["properties"], schema.get("required", ())
    unknown = [name for name in arguments if name not in known]
    faults = [f"`{name}` is missing" for name in required if name not in arguments]
    faults += [f"`{name[:LONGEST_NAME]}` is no argument" for name in unknown[:MOST_NAMED]]
    faults += [f"`{name}` cannot be used as it is" for name in dict.fromkeys(wrong) if name in arguments]
    if not faults:
        return ""
    allowed = ", ".join(_described(name, field, is_required=name in required) for name, field in known.items())
    return f"{'; '.join(faults)}. `{tool}` takes {allowed}."


def _described(name: str, field: Mapping[str, Any], *, is_required: bool) -> str:
    kind = _KINDS.get(field.get("type", ""), field.get("type", "any value"))
    if "minimum" in field and "maximum" in field:
        kind += f" from {field['minimum']} to {field['maximum']}"
    if "maxLength" in field:
        kind += f" of at most {field['maxLength']} characters"
    return f"`{name}` ({kind}{'' if is_required else ', may be left out'})"

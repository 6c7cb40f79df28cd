"""A user's prompts with placeholders for passages, question and earlier answer, like LlamaIndex's templates.

A prompt without a placeholder is an instruction. Only the names below are placeholders: `str.format` would also read
the braces of inserted text, and those of JSON in the prompt.
"""

from __future__ import annotations

import re

from anabranch.safety.prompt_envelope import DATA

# Doubled braces are plain braces, as for `str.format`.
_PLACE = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")

_READING = ("context_str", "query_str")

PLACES: dict[str, tuple[str, ...]] = {
    "condense": (),
    "rewrite": ("query_str", "num_queries"),
    "retrieve": _READING,
    "rerank": _READING,
    "grade": _READING,
    "create": _READING,
    "refine": (*_READING, "existing_answer"),
    "reduce": _READING,
}
"""The placeholders of the prompt of each step."""

_OPTIONAL = frozenset({"num_queries"})
# LlamaIndex's tutorials use both names.
_ALIASES = {"query": "query_str"}


def is_template(prompt: str) -> bool:
    """Tell whether a prompt has a placeholder."""
    return _PLACE.search(prompt) is not None


def checked_prompt(step: str, prompt: str) -> str:
    """Return the prompt of a step unchanged.

    Raises:
        ValueError: It has an unknown placeholder, lacks a needed one, or has the passages twice.
    """
    known = PLACES[step]
    written = _PLACE.findall(prompt)
    found = [_ALIASES.get(name, name) for name in written]
    listed = ", ".join(f"{{{name}}}" for name in known) or "none"
    if unknown := [name for name in written if _ALIASES.get(name, name) not in known]:
        raise ValueError(f"there is no placeholder {{{unknown[0]}}} in the step {step!r}, known there: {listed}")
    missing = [name for name in known if name not in found and name not in _OPTIONAL]
    if found and missing:
        raise ValueError(f"as a template it lacks {{{missing[0]}}}, known in the step {step!r}: {listed}")
    # A window fits the model's context only once.
    if found.count("context_str") > 1:
        raise ValueError("{context_str} stands in it more than once")
    return prompt


def filled(template: str, **values: str) -> str:
    """Return a template with its placeholders replaced, in one pass: inserted text is not searched again."""
    return _PLACE.sub(lambda match: values.get(_ALIASES.get(match[1], match[1]), match[0]), template)


def messages(prompt: str, usual: str, *, guard: str = DATA, **values: str) -> tuple[str, str]:
    """Return the system and the user message of a call.

    Args:
        prompt: An instruction, which becomes the system message, or a template, which becomes the user message.
        usual: The user message for an instruction.
        guard: The system message for a template.
        values: The values by placeholder; passages in their envelope.
    """
    return (guard, filled(prompt, **values)) if is_template(prompt) else (prompt, usual)

"""The facts that a Markdown file states about itself above its text, between two lines of dashes, in YAML.

Read by the core schema of YAML 1.2, which has no surprises: `no` is a word and not false, `12:30` and `2024-05-01` are
what they look like. Neither aliases, which make a kilobyte into a gigabyte, nor tags, which make objects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from anabranch.text.normalization import clean, squeeze

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LONGEST, _DEEPEST = 1 << 16, 20  # YAML is slow to parse, and recurses
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# A number with more digits than a float keeps, or with zeros before it, is a name: a phone number, a postcode.
_WHOLE = re.compile(r"[-+]?(?:0|[1-9]\d{0,14})")
_FRACTION = re.compile(r"[-+]?(?:0|[1-9]\d{0,14})?\.\d{1,15}(?:[eE][-+]?\d{1,2})?")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands above the text.

    Attributes:
        body: The text below it.
        facts: Key and value, all of which JSON can hold.
        unread: The front matter itself, if it cannot be read.
        notes: Why it cannot.
    """

    body: str
    facts: dict[str, Any] = field(default_factory=dict)
    unread: str = ""
    notes: tuple[str, ...] = ()


def front_matter(text: str) -> FrontMatter:
    """Return the facts above a text and the text; lines between two rules that are no keys and values are text."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return FrontMatter(text)
    written, body = found.group(1) or "", text[found.end() :]
    try:
        facts = _facts(written)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return FrontMatter(body, unread=written.strip(), notes=(_note(error),))
    return FrontMatter(text) if facts is None else FrontMatter(body, facts)


def _note(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2})" if mark else ""
    what = squeeze(str(getattr(error, "problem", None) or error))[:100] or type(error).__name__
    return f"the front matter is no YAML that can be read{where}: {what}; it was kept as text"


class _PlainLoader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Refuses what is nested too deeply, aliases and tags, before anything is built of them."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # noqa: ANN401  # a number, or the node of a key
        event = self.peek_event()
        # An alias of aliases makes a gigabyte.
        if isinstance(event, yaml.AliasEvent) or event.tag not in {None, "!"}:
            raise yaml.MarkedYAMLError(problem="aliases and tags are not read", problem_mark=event.start_mark)
        self._depth += 1
        if self._depth > _DEEPEST and isinstance(event, yaml.CollectionStartEvent):
            raise yaml.MarkedYAMLError(problem="it is nested too deeply", problem_mark=event.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _facts(written: str) -> dict[str, Any] | None:
    """Return the facts; None if what is written is no mapping, and so no front matter."""
    if len(written) > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST >> 10} kB")
    node = yaml.compose(written, Loader=_PlainLoader)
    if node is None:
        return {}
    return _mapping(node) if isinstance(node, yaml.MappingNode) else None


def _mapping(node: yaml.MappingNode) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for key, value in node.value:
        name = squeeze(key.value) if isinstance(key, yaml.ScalarNode) else ""
        if not name or name in facts:
            why = f"the key {name!r} stands twice" if name else "a key is no word"
            raise yaml.MarkedYAMLError(problem=why, problem_mark=key.start_mark)
        facts[name] = _value(value)
    return facts


def _value(node: yaml.Node) -> Any:  # noqa: ANN401  # whatever JSON can hold
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    text = clean(str(node.value))
    return text if getattr(node, "style", None) else _plain(text)


def _plain(text: str) -> str | float | bool | None:
    """Return what a word without quotation marks means."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _FRACTION.fullmatch(text) else text

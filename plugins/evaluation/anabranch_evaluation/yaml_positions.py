"""Reads YAML with the line of each value, for messages, and its characters, so that a number can be replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from anabranch.errors import CollectionError

Where = tuple[str | int, ...]
"""Path of keys and indexes to a value."""


@dataclass(frozen=True, slots=True)
class Located:
    """A YAML file as it was read.

    Attributes:
        text: Its text.
        value: Its parsed value.
        lines: Line of each value, from 1.
        spans: First character of each value, and the one after its last.
    """

    text: str
    value: Any
    lines: Mapping[Where, int]
    spans: Mapping[Where, tuple[int, int]]

    def line(self, where: Where) -> int:
        """Return the line of a value, or of the nearest one around it."""
        while where not in self.lines and where:
            where = where[:-1]
        return self.lines.get(where, 1)

    def replace_values(self, values: Mapping[Where, str]) -> str:
        """Return the text with other values in some places; everything else, comments too, stays as it is."""
        text = self.text
        # From the end, so that earlier places stay valid.
        for where, new in sorted(values.items(), key=lambda item: self.spans[item[0]], reverse=True):
            start, end = self.spans[where]
            # An empty value has no characters to replace.
            text = text[:start] + (new if end > start else f" {new}") + text[end:]
        return text


def read_located(path: Path) -> Located:
    """Read a YAML file.

    Raises:
        CollectionError: The file cannot be read, is not YAML, or gives a key twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        # Nodes instead of `safe_load`, because plain values have no place.
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        value = loader.construct_document(node) if node is not None else None
    except (OSError, UnicodeDecodeError) as error:
        raise CollectionError(f"{path} cannot be read: {error}.", hint="Give a YAML file in UTF-8.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        msg = f"{path} is not YAML: {' '.join(str(error).split())}."
        raise CollectionError(msg, hint="Check the indentation and the quotes.") from error
    lines: dict[Where, int] = {}
    spans: dict[Where, tuple[int, int]] = {}
    for where, inner in _walk(node, (), set()):
        # YAML silently takes the last of two equal keys.
        if where in lines:
            msg = f"{path}: line {inner.start_mark.line + 1}: {where[-1]!r} was given on line {lines[where]} already."
            raise CollectionError(msg, hint="Leave one out.")
        lines[where] = inner.start_mark.line + 1
        spans[where] = (inner.start_mark.index, inner.end_mark.index)
    return Located(text, value, lines, spans)


def _walk(node: yaml.Node | None, where: Where, visited: set[int]) -> Iterator[tuple[Where, yaml.Node]]:
    """Yield every value with its place; an alias is visited only once."""
    # Nested aliases can expand to billions of values.
    if node is None or id(node) in visited:
        return
    visited.add(id(node))
    yield where, node
    if isinstance(node, yaml.MappingNode):
        for key, inner in node.value:
            yield from _walk(inner, (*where, str(key.value)), visited)
    elif isinstance(node, yaml.SequenceNode):
        for index, inner in enumerate(node.value):
            yield from _walk(inner, (*where, index), visited)

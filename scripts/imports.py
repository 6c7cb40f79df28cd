"""Draws which package imports which, for docs/architecture.md."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOPS = ("graph", "nodes", "prompts", "anabranch")
AGENT = "anabranch.agent."
"""What the first three are imported by: `anabranch/agent` links them."""
EVERYWHERE = {"errors", "registry"}
"""What any package may import, left out so that the picture can be read."""


def package_of(module: str) -> str | None:
    """Return the part of the picture that a module belongs to: a top-level package, or a folder of `anabranch`."""
    first, *rest = module.removeprefix(AGENT).split(".")
    if first not in TOPS:
        return None
    if first != "anabranch":
        return first
    return rest[0] if rest and rest[0] not in EVERYWHERE and (ROOT / "anabranch" / rest[0]).is_dir() else None


def imported(file: Path) -> Iterator[str]:
    """Yield the modules that a file imports, also those imported inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def arrows() -> dict[str, set[str]]:
    """Return, for each package, those that it imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for top in TOPS:
        for file in sorted((ROOT / top).rglob("*.py")):
            mine = package_of(".".join(file.relative_to(ROOT).with_suffix("").parts))
            for module in imported(file) if mine else ():
                other = package_of(module)
                if mine and other and other != mine:
                    found[mine].add(other)
    return dict(found)


def without_detours(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out an arrow where others lead the same way; in a graph without circles the rest says as much."""

    def reach(start: str) -> set[str]:
        return set().union(*({each} | reach(each) for each in found.get(start, ())), set())

    return {
        start: {end for end in ends if not any(end in reach(other) for other in ends - {end})}
        for start, ends in found.items()
    }


def picture() -> str:
    """Return the packages as a Mermaid drawing, importers above what they import."""
    lines = [
        f"\t{start} --> {end};" for start, ends in sorted(without_detours(arrows()).items()) for end in sorted(ends)
    ]
    return "\n".join(["```mermaid", "graph TD;", *lines, "```"])

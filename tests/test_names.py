"""A name means one thing: file names and the names of classes and type aliases exist once, and no module lies loose."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Prompts have the names of their steps, and are left out for that.
CODE = [*(ROOT / top for top in ("anabranch", "graph", "nodes")), *sorted(ROOT.glob("plugins/*/anabranch_*"))]
FILES = [file for top in CODE for file in sorted(top.rglob("*.py"))]
EVERYWHERE = {"__init__.py", "errors.py", "registry.py", "types.py"}
"""What may lie at the top of the package: what every folder of it may import."""


def named(file: Path) -> Iterator[str]:
    """Yield the public classes and type aliases of a module."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name


def twice(names: Iterator[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def test_a_file_name_exists_once() -> None:
    assert twice(file.name for file in FILES if file.name != "__init__.py") == []


def test_a_class_name_exists_once() -> None:
    assert twice(name for file in FILES for name in named(file) if not name.startswith("_")) == []


def test_no_module_lies_loose() -> None:
    assert {file.name for file in (ROOT / "anabranch").glob("*.py")} == EVERYWHERE


def test_a_plugin_has_its_page_its_tests_and_one_package() -> None:
    folders = [folder for folder in sorted((ROOT / "plugins").iterdir()) if (folder / "__init__.py").is_file()]
    assert len(folders) == 8
    for folder in folders:
        inside = {each.name for each in folder.iterdir()} - {"__pycache__"}
        assert inside == {"__init__.py", "README.md", "tests", f"anabranch_{folder.name}"}

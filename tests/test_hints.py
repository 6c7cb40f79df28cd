"""What a hint sends people to is there: commands, options, pages of the guide, extras."""

from __future__ import annotations

import ast
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import typer

from anabranch.cli.app import app
from tests.shared_fixtures import REPOSITORY

PLUGINS = sorted(REPOSITORY.glob("plugins/*/anabranch_*"))
OTHER_PROGRAMS = re.compile(r"(?:qpdf|pip install|optimum-cli|langgraph)\b[^.;`]*")
"""Their options are not ours."""


def _text(node: ast.expr) -> str:
    """Return the literal words of an expression; what is filled in becomes a blank word."""
    pieces = [each for each in ast.walk(node) if isinstance(each, ast.Constant | ast.FormattedValue)]
    return "".join(each.value if isinstance(each, ast.Constant) else " _ " for each in pieces if _is_text(each))


def _is_text(node: ast.expr) -> bool:
    return not isinstance(node, ast.Constant) or isinstance(node.value, str)


def _hints_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        named = [node.arg or ""] if isinstance(node, ast.keyword) else []
        named = [ast.unparse(each) for each in node.targets] if isinstance(node, ast.Assign) else named
        if any("hint" in name.lower() for name in named):
            yield _text(node.value)


@cache
def hints() -> list[str]:
    """Return all hints; read by the first test and not when tests are collected, which each worker does."""
    folders = [*(REPOSITORY / name for name in ("anabranch", "graph", "nodes")), *PLUGINS]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    own = [path for path in files if "agent" not in path.relative_to(REPOSITORY).parts]
    return [hint for path in own for hint in _hints_in(ast.parse(path.read_text(encoding="utf-8")))]


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each command by its words."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_hints_are_found() -> None:
    assert len(hints()) > 200
    assert any("anabranch corpus rebuild" in hint for hint in hints())


def test_the_commands_that_hints_name_exist() -> None:
    named = [found.split() for hint in hints() for found in re.findall(r"anabranch ([a-z]+(?: [a-z]+)?)", hint)]
    known = [words for words in named if (words[0],) in COMMANDS]
    assert [" ".join(words) for words in named if words not in known] == []
    groups = [words for words in known if hasattr(COMMANDS[words[0],], "commands") and len(words) > 1]
    assert [words for words in groups if tuple(words) not in COMMANDS] == []
    assert len(groups) > 5


def test_the_options_that_hints_name_exist() -> None:
    options = {name for command in COMMANDS.values() for each in command.params for name in each.opts}
    named = {
        option for hint in hints() for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", OTHER_PROGRAMS.sub("", hint))
    }
    assert named - options - {"--help"} == set()
    assert len(named) > 20


def test_the_pages_and_extras_that_hints_name_exist() -> None:
    pages = {page for hint in hints() for page in re.findall(r"docs/[\w/-]+\.md", hint)}
    assert [page for page in pages if not (REPOSITORY / page).exists()] == []
    assert "docs/server.md" in pages
    extras = {name for hint in hints() for name in re.findall(r"anabranch\[([a-z0-9]+)\]", hint)}
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extras <= project["optional-dependencies"].keys()


def test_the_names_of_the_package_that_hints_name_exist() -> None:
    named = {found for hint in hints() for found in re.findall(r"\banabranch\.[\w.]+\w", hint)}
    assert {"anabranch.Embedder", "anabranch.store.memory.forget"} <= named
    for name in named:
        assert callable(pkgutil.resolve_name(name)), name


def test_the_variables_that_hints_name_are_in_the_guide() -> None:
    guide = "\n".join(page.read_text(encoding="utf-8") for page in (REPOSITORY / "docs").glob("*.md"))
    named = {found for hint in hints() for found in re.findall(r"\bANABRANCH_[A-Z_]+", hint)}
    assert "ANABRANCH_REPLICA_AGE" in named
    assert [name for name in named if f"`{name}" not in guide] == []


def test_the_extras_that_missing_packages_name_exist() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files = [path for folder in (REPOSITORY / "anabranch", *PLUGINS) for path in folder.rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    named = set(re.findall(r"MissingExtraError\(\s*f?\"[^\"]*\",\s*\"(\w+)\"", code))
    # What a plugin adds names the extra behind its place (`anabranch.registry`).
    places = [place for group in project["entry-points"].values() for place in group.values()]
    behind = {name for place in places for name in re.findall(r"\[(\w+)\]$", place)}
    assert named
    assert {"formats", "web", "serve"} <= behind
    assert named | behind <= project["optional-dependencies"].keys()

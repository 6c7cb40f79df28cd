"""A small real corpus, made once, and the command line in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from typer.testing import CliRunner, Result

from anabranch.cli.app import app
from anabranch.safety.operator import environment

RIVERS = """# Rivers

An anabranch is a section of a river that diverts from the main channel and rejoins it downstream. Anabranches can be
small or very long.

## Deltas

A distributary leaves the main channel and does not return to it. Distributaries are common in river deltas, such as
that of the Mississippi.
"""
BEES = """# Bees

Honey bees live in colonies of up to 60,000 workers and one queen. The queen lays about 1,500 eggs a day.

## Dance

The waggle dance tells other bees the direction and the distance of a food source. Karl von Frisch decoded it in the
1940s.
"""
CELLAR = """The boiler in the cellar was serviced on 3 March 2024 by Mr Jansen. The next service is due in March 2026.
The spare key of the cellar hangs behind the blue door.
"""
DOCUMENTS = {"rivers.md": RIVERS, "bees.md": BEES, "cellar notes.txt": CELLAR}

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the developer has configured is none of the tests' business."""
    for name in list(os.environ):
        # The width of a terminal is one's own, too; tests that run side by side are given one.
        if name.startswith("ANABRANCH_") or name.endswith("_API_KEY") or name == "COLUMNS":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def _commands_are_built_once() -> Iterator[None]:
    """Typer builds every command for each one that is run: half of what most of these tests would take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def corpus(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of three documents, embedded by the bundled MiniLM; read it only."""
    from anabranch.ingestion.pipeline import ingest

    folder = tmp_path_factory.mktemp("home") / "corpus"
    assert ingest([documents], folder).count("added") == len(DOCUMENTS)
    return folder


@pytest.fixture
def run() -> Run:
    """Run a command; what it raises beyond its exit is a failure of the test."""

    def invoke(*arguments: object, stdin: str | None = None, env: dict[str, str] | None = None) -> Result:
        environment.cache_clear()  # each command is a process of its own
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, env=env)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path

"""A project with a `graph.py`, `nodes` or `prompts` of its own, as many projects of LangGraph have (ADR 17)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_fixtures import REPOSITORY

ASK = """
from anabranch import answer, ingest
ingest(documents=["The Halden weir was built by Ida Marrow in 1931."], corpus="memory:weir")
print(answer("Who built the Halden weir?", corpus="memory:weir")["answer"])
"""


def python(home: Path, *arguments: str, path: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(path)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)


def test_theirs_and_ours_work_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "graph.py").write_text(f"import nodes.mine, prompts\nMINE = (nodes.mine.STEP, prompts.SAY)\n{ASK}")
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes/__init__.py").touch()
    (tmp_path / "nodes/mine.py").write_text("STEP = 'my step'\n")
    (tmp_path / "prompts.py").write_text("SAY = 'my words'\n")
    done = python(tmp_path, "-c", "import graph; print(graph.MINE)")
    assert "Ida Marrow" in done.stdout, done.stderr
    assert done.stdout.endswith("('my step', 'my words')\n")


def test_a_file_that_a_server_runs_may_have_the_name(tmp_path: Path) -> None:
    """A LangGraph server runs the file that langgraph.json names, with its folder on the path."""
    (tmp_path / "graph.py").write_text("from anabranch.agent.graph.answer import graph\nprint(type(graph), __file__)\n")
    load = (
        "import importlib.util, sys; sys.path.insert(0, '.')\n"
        "spec = importlib.util.spec_from_file_location('__graph__', 'graph.py')\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))"
    )
    done = python(tmp_path, "-c", load)
    assert "CompiledStateGraph" in done.stdout, done.stderr
    assert done.stdout.endswith("graph.py\n")


@pytest.mark.parametrize("name", ["graph", "nodes", "prompts"])
def test_a_second_copy_of_our_classes_is_refused(name: str) -> None:
    """Settings of one copy would be unknown to the other, without a word."""
    done = python(REPOSITORY, "-c", f"import {name}")
    assert f"Import it as anabranch.agent.{name}." in done.stderr

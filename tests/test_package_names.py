"""A project with a `graph.py`, `nodes` or `prompts` of its own, as many projects of LangGraph have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.cli.installation_checks import packages_check
from anabranch.package_names import taken_by
from tests.conftest import REPOSITORY

ASK = """
from anabranch import answer, ingest
ingest(documents=["The Halden weir was built by Ida Marrow in 1931."], corpus="memory:weir")
graph = answer("Who built the Halden weir?", corpus="memory:weir")
"""


def python(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("place", ["graph.py", "nodes/__init__.py", "prompts.py"])
def test_what_hides_a_package_is_named_and_what_to_do(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("MINE = True\n")
    (tmp_path / "script.py").write_text(ASK)
    done = python(tmp_path, "script.py")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("anabranch.errors.SettingsError: ")
    assert f"{tmp_path / place} hides Anabranch's package" in last
    assert "my_agent/" in last


def test_a_file_that_a_server_runs_is_named_as_well(tmp_path: Path) -> None:
    """A LangGraph server runs the file that langgraph.json names, with its folder on the path."""
    (tmp_path / "graph.py").write_text(ASK)
    load = (
        "import importlib.util, sys; sys.path.insert(0, '.')\n"
        "spec = importlib.util.spec_from_file_location('__graph__', 'graph.py')\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))"
    )
    done = python(tmp_path, "-c", load)
    assert f"{tmp_path / 'graph.py'} hides Anabranch's package 'graph'" in done.stderr.strip().splitlines()[-1]


def test_in_a_package_of_their_own_the_same_names_are_free(tmp_path: Path) -> None:
    """As LangGraph's templates have it: src/agent/graph.py."""
    package = tmp_path / "my_agent"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "prompts.py").write_text("MINE = 'Answer.'\n")
    (package / "graph.py").write_text(f"from my_agent.prompts import MINE\n{ASK}\nprint(MINE, graph['answer'])\n")
    (tmp_path / "prompts").mkdir()  # texts, and no package
    done = python(tmp_path, "-c", "import my_agent.graph")
    assert done.stdout.startswith("Answer. "), done.stderr
    assert "Ida Marrow" in done.stdout


def test_what_needs_none_of_the_packages_works_beside_them(tmp_path: Path) -> None:
    (tmp_path / "graph.py").write_text("MINE = True\n")
    code = "import graph, anabranch; from anabranch import ingest, open_corpus; print(graph.MINE)"
    assert python(tmp_path, "-c", code).stdout == "True\n"


def test_doctor_looks_into_the_folder_where_programs_would_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [taken_by(name) for name in ("graph", "nodes", "prompts")] == ["", "", ""]
    (tmp_path / "nodes").mkdir()
    assert taken_by("nodes", [str(tmp_path)]) == ""
    (tmp_path / "graph.py").touch()
    found = packages_check()
    assert (found.status, str(tmp_path / "graph.py") in found.said) == ("problem", True)
    assert "my_agent/graph.py" in found.hint

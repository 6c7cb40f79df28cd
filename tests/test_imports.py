"""The rules on imports hold for modules that are made tomorrow: one of each kind that breaks them is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
AGENT = "anabranch.agent"
PLUGINS = sorted(ROOT.glob("plugins/*/anabranch_*"))
BROKEN = {
    "anabranch/new.py": ["langgraph.types", "anabranch.cli.app"],
    "anabranch/store/deep/new.py": [f"{AGENT}.nodes.state", f"{AGENT}.prompts", "anabranch.ingestion.pipeline"],
    "anabranch/text/new.py": ["anabranch_readers.pdf"],
    "anabranch/models/new.py": ["anabranch_onnx.model_folder"],
    "anabranch_onnx/new.py": ["anabranch_readers.pdf"],
    "anabranch/agent/nodes/new.py": [f"{AGENT}.graph.routes", f"{AGENT}.graph.new", "anabranch.cli.app"],
    "anabranch/agent/prompts/new.py": [f"{AGENT}.nodes.state", f"{AGENT}.nodes.fuse"],
    "anabranch/agent/graph/new.py": ["anabranch.cli.app", "anabranch_copies", "anabranch_server"],
}
KEPT = {
    "anabranch/agent/nodes/well.py": [f"{AGENT}.nodes.settings", f"{AGENT}.nodes.state", f"{AGENT}.prompts"],
    "anabranch/agent/graph/well.py": [f"{AGENT}.nodes.fuse", f"{AGENT}.graph.new"],
    "anabranch/store/well.py": ["anabranch.text.analyzer"],
    "anabranch_server/well.py": ["langgraph.types", "anabranch.cli.output", f"{AGENT}.graph.answer"],
}


def checked(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*command, "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_new_module_cannot_escape_the_rules(tmp_path: Path) -> None:
    for package in (ROOT / "anabranch", *PLUGINS):
        shutil.copytree(package, tmp_path / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert "0 broken" in checked(tmp_path)
    (tmp_path / "anabranch/store/deep").mkdir()
    (tmp_path / "anabranch/store/deep/__init__.py").touch()
    for file, imported in (BROKEN | KEPT).items():
        (tmp_path / file).write_text("".join(f"import {module}\n" for module in imported))
    said = checked(tmp_path)
    for file, imported in BROKEN.items():
        importer = file.removesuffix(".py").replace("/", ".")
        for module in imported:
            name = module.split(".", maxsplit=1)[0] if module.startswith("langgraph") else module
            assert f"{importer} -> {name}" in said, said
    assert "not listed as layers" in said, said  # a package without a place in the order is found, whatever it imports
    assert f"{AGENT}.nodes.well -> " not in said
    assert "anabranch.store.well -> " not in said
    assert "anabranch_server.well -> " not in said
    assert f"{AGENT}.graph.well -> " not in said

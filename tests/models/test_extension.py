"""Another package's reranker and embedder: two files, and the graph, the command line and the forms know them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.models.embedders import resolve_spec
from tests.shared_fixtures import REPOSITORY

RERANKER = """
from anabranch.models.rerankers import Reranker

class Longest(Reranker):
    name = "longest"

    @classmethod
    def from_settings(cls, settings):
        return cls()

    async def relevance(self, question, texts):
        return [float(len(text)) for text in texts]
"""

EMBEDDER = """
import numpy as np
from anabranch.models.wordpiece_tokenizer import WordPieces

class Letters:
    dimension = 26

    @classmethod
    def from_settings(cls, settings):
        made = cls()
        made.name = f"letters:{settings.model}"
        return made

    def __init__(self):
        pieces = WordPieces()
        self.tokenizer, self.count, self.offsets = pieces.file, pieces.count, pieces.offsets

    def embed(self, texts):
        counts = [[1 + text.lower().count(chr(97 + letter)) for letter in range(26)] for text in texts]
        rows = np.array(counts, dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
"""

USE = """
import asyncio, json, sys
from anabranch.cli import main
from anabranch.agent.graph.retrieval import graph as search
from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
assert ingest(["documents"], "corpus", embedder="letters:latin").count("added") == 2
context = Context(corpus="corpus", rerank="longest")
state = asyncio.run(search.ainvoke({"question": "Who keeps bees?"}, context=context))
steps = {step["node"]: step for step in state["trace"]}
print(json.dumps([state["candidates"], steps, Context.model_json_schema()["properties"]["rerank"]]))
sys.argv[1:] = ["doctor", "--corpus", "corpus", "--json", "--set", "rerank=longest"]
main()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/long.md").write_text("Bees are kept by Mr Jansen, " + "who has many hives, " * 9)
    (tmp_path / "documents/short.md").write_text("A weir.")
    return tmp_path


def install(home: Path) -> None:
    """Write the package: a module, and the metadata that pip would write for it. Nothing of Anabranch is touched."""
    package, metadata = home / "package", home / "package/theirs-1.0.dist-info"
    metadata.mkdir(parents=True)
    (package / "theirs.py").write_text(RERANKER + EMBEDDER)
    places = "[anabranch.rerankers]\nlongest = theirs:Longest\n[anabranch.embedders]\nletters = theirs:Letters\n"
    (metadata / "entry_points.txt").write_text(places)
    assert len([file for file in package.rglob("*") if file.is_file()]) == 2


def python(home: Path, code: str) -> tuple[list[Any], dict[str, dict[str, str]]]:
    """Run code in a process of its own, where the package is installed; return what it and the doctor print."""
    path = os.pathsep.join([str(home / "package"), str(REPOSITORY)])
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=home, env=environ | {"PYTHONPATH": path},
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    found, doctor = done.stdout.split("\n", 1)
    return json.loads(found), {check["name"]: check for check in json.loads(doctor)["checks"]}


def test_a_reranker_and_an_embedder_of_another_package_are_two_files(home: Path) -> None:
    install(home)
    (candidates, steps, form), doctor = python(home, USE)
    assert steps["rerank"]["counts"]["by"] == "longest"
    assert [candidate["fused"] for candidate in candidates] == [2, 1]
    assert "longest" in form["enum"]
    assert doctor["rerank"] == {"name": "rerank", "status": "ok", "said": "longest", "hint": ""}
    assert "retrieve" in steps
    assert "embedder letters:latin (26)" in doctor["corpus"]["said"]


def test_a_name_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'cohere'"):
        Context(rerank="cohre")
    with pytest.raises(SettingsError) as caught:
        resolve_spec("minilmm")
    assert "Did you mean 'minilm'?" in str(caught.value.hint)

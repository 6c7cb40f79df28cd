"""The components that show sources in chat pages, rendered with the message of a real answer; needs Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from anabranch import Context, graph, ingest
from tests.shared_fixtures import REPOSITORY

FOLDER = REPOSITORY / "examples" / "chat_sources"


@pytest.mark.slow
def test_the_components_show_the_sources_of_an_answer(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or not (FOLDER / "node_modules").is_dir():
        pytest.skip("the packages are not installed: `npm install` in examples/chat_sources")
    ingest(REPOSITORY / "tests" / "samples" / "weir.md", tmp_path / "corpus")
    result = graph.invoke({"question": "Who built the Halden weir?"}, context=Context(corpus=str(tmp_path / "corpus")))
    message = tmp_path / "message.json"
    message.write_text(json.dumps(result["messages"][-1].model_dump(mode="json")), encoding="utf-8")
    done = subprocess.run(
        [npm, "test"],
        cwd=FOLDER,
        env={**os.environ, "MESSAGE": str(message)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 4" in done.stdout

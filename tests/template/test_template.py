"""The project to begin with is small, builds its graph and holds a conversation; `langgraph dev` serves it."""

from __future__ import annotations

import importlib.util
import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from anabranch import ingest
from plugins.server.tests.dev_server import free_port, wait_for
from plugins.server.tests.serve_process import Forked, environment_of
from tests.shared_fixtures import REPOSITORY

TEMPLATE = REPOSITORY / "template"
ASKED = {"messages": [("user", "Where is the corpus of the documents?")]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, as somebody would make it, with its documents taken in as its README says."""
    home = tmp_path / "project"
    shutil.copytree(TEMPLATE, home)
    monkeypatch.chdir(home)
    assert "anabranch ingest documents --corpus documents.corpus" in (home / "README.md").read_text(encoding="utf-8")
    assert ingest("documents", "documents.corpus").count("added") == 1
    return home


@pytest.fixture
def builder(project: Path) -> Any:
    """The graph before it is compiled, loaded from its file as LangGraph's servers do."""
    spec = importlib.util.spec_from_file_location("project_graph", project / "graph.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.builder


async def test_the_graph_answers_over_a_conversation_and_its_own_step_follows(builder: Any) -> None:
    graph = builder.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    first = await graph.ainvoke(ASKED, thread)
    assert first["sources"] == ["example.md"]
    assert "beside the folder" in first["answer"].replace("\n", " ")
    again = await graph.ainvoke({"messages": [("user", "Which files can I put in this folder?")]}, thread)
    assert "PDF, Office" in again["answer"]
    assert len(again["messages"]) == 4


def test_it_is_small_and_what_it_names_is_there() -> None:
    files = [path for path in TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 200
    named = json.loads((TEMPLATE / "langgraph.json").read_text(encoding="utf-8"))
    (place,) = named["graphs"].values()
    assert (TEMPLATE / place.partition(":")[0]).is_file()
    ours = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    own = tomllib.loads((TEMPLATE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # The development server that this project is tested with.
    assert own["optional-dependencies"]["dev"] == [each for each in ours["server"] if "langgraph-cli" in each]


@pytest.fixture
def url(project: Path) -> Iterator[str]:
    shutil.copy(project / ".env.example", project / ".env")
    log = project / "server.log"
    port = free_port()
    environment = environment_of(project, LANGGRAPH_NO_VERSION_CHECK="true")
    del environment["ANABRANCH_CORPUS"]
    process = Forked(
        project, ["langgraph", "dev", "--no-browser", "--no-reload", "--port", str(port)], environment, log
    )
    try:
        wait_for(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)
    assert "Blocking call" not in log.read_text(errors="replace")


@pytest.mark.loopback
@pytest.mark.slow
async def test_langgraph_dev_serves_it(url: str) -> None:
    pytest.importorskip("langgraph_api", reason="the extra `server` is not installed")
    from langgraph_sdk import get_client

    asked = {"messages": [{"role": "user", "content": ASKED["messages"][0][1]}]}
    async with get_client(url=url) as client:
        result: Any = await client.runs.wait(None, "agent", input=asked)
    assert result["sources"] == ["example.md"]

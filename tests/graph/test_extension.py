"""Another package's retriever and synthesis mode: two files each, known to the graph, the command line and forms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_fixtures import REPOSITORY

RETRIEVER = """
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

class Bridges(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("The Cedar bridge was opened by Adelaide Finch.", metadata={"source": "bridges"})]
"""
MODE = '''
PROMPT = "Answer in one word."

async def first_words(state, settings):
    """Answer with the first words of the first passage."""
    passage = state["texts"][state["windows"][0][0]["id"]]
    words = " ".join(passage.text.split()[:12])
    quotes = {"1": [words]}
    assert settings.synthesis == "first_words"
    draft = {**state["draft"], "answer": f"{words} [1]", "quotes": quotes, "found": True, "window": 1}
    return {"draft": draft}
'''
BROKEN = "raise RuntimeError('no licence')"
ASK = """
import asyncio, json, os, sys
os.environ["OPENAI_API_KEY"] = "unused"
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from anabranch.agent.graph.answer import build, graph
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE

def ask(question, **settings):
    context = Context(corpus="corpus", **settings)
    state = asyncio.run(graph.ainvoke({"question": question}, context=context, output_keys=VISIBLE))
    nodes = [step["node"] for step in state["trace"]]
    print(json.dumps([state["answer"], state["citations"], state["route"], nodes]))

def command_line(*arguments):
    from anabranch.cli import main
    sys.argv[1:] = ["ask", *arguments, "--corpus", "corpus"]
    try:
        main()
    except SystemExit as ended:
        print("ended with", ended.code)
"""
ALL = """
ask("Who opened the Cedar bridge?", retrievers=("bm25", "dense", "bridges"))
ask("Who built the Halden weir?", synthesis="first_words", model="openai:none")
schema = graph.get_context_jsonschema()["properties"]
print(json.dumps([schema["retrievers"]["examples"][0], schema["synthesis"]["enum"]]))
talk = build().compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "t"}}
context = Context(corpus="corpus", synthesis="first_words", review="sources")
for question in ("Who built the Halden weir?", "What is the diameter of the water wheel?"):
    talk.invoke({"question": question}, config, context=context)
    state = talk.invoke(Command(resume=True), config, context=context)
print(json.dumps([message.type for message in state["messages"]]))
command_line("Who opened the Cedar bridge?", "--set", 'retrievers=["bridges"]')
command_line("Who built the Halden weir?", "--set", "synthesis=pack")
"""


def installed(home: Path, name: str, entry_points: str, source: str) -> None:
    """Write a package: a module, and the metadata that pip would write for it. Nothing of Anabranch is touched."""
    metadata = home / name / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (home / name / f"{name}.py").write_text(source)
    (metadata / "entry_points.txt").write_text(entry_points)
    assert len([file for file in (home / name).rglob("*") if file.is_file()]) == 2


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, river: str) -> subprocess.CompletedProcess[str]:
    """One process with a retriever, a mode, and a mode that cannot be imported: what is installed is looked for once.

    Its last command asks for the mode that cannot be imported.
    """
    home = tmp_path_factory.mktemp("installed")
    entry_points = (
        "[anabranch.retrievers]\nbridges = theirs:Bridges\n"
        "[anabranch.synthesis_modes]\nfirst_words = theirs:first_words\n"
    )
    installed(home, "theirs", entry_points, RETRIEVER + MODE)
    installed(home, "broken", "[anabranch.synthesis_modes]\npack = broken:pack\n", BROKEN)
    packages = [home / "theirs", home / "broken", REPOSITORY]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, packages))}
    (home / "corpus").symlink_to(river)
    command = [sys.executable, "-c", ASK + ALL]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What the process says, line by line."""
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_retriever_is_two_files(said: list[str]) -> None:
    answer, citations, _, nodes = json.loads(said[0])
    assert "Adelaide Finch" in answer
    assert "bridges" in [citation["source"] for citation in citations]
    assert nodes.count("retrieve") == 3
    assert "bridges" in json.loads(said[2])[0]
    assert "Adelaide Finch" in "".join(said[4:])


@pytest.mark.slow
def test_a_synthesis_mode_is_two_files(said: list[str]) -> None:
    answer, citations, route, nodes = json.loads(said[1])
    assert route["name"] == "installed"
    assert "installed" in nodes
    assert "create" not in nodes
    assert len(answer.split()) <= 13
    assert citations[0]["grade"] in ("quoted", "found")
    assert "first_words" in json.loads(said[2])[1]


@pytest.mark.slow
def test_a_mode_answers_every_turn_of_a_conversation_also_after_a_pause_and_without_a_model(said: list[str]) -> None:
    assert json.loads(said[3]) == ["human", "ai", "human", "ai"]


@pytest.mark.slow
def test_a_mode_that_cannot_be_imported_harms_nobody_who_does_not_ask_for_it(
    done: subprocess.CompletedProcess[str], said: list[str]
) -> None:
    assert [line for line in said if line.startswith("ended with")] == ["ended with 0", "ended with 2"]
    assert "no licence" in done.stderr

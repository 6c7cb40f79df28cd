"""Another package's retriever and synthesis mode: two files each, known to the graph, the command line and forms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

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
ASK = """
import asyncio, json
from graph.answer import graph
from nodes.settings import Context
from nodes.state import CHANNELS
context = Context(corpus="corpus", {options})
state = asyncio.run(graph.ainvoke({{"question": {question!r}}}, context=context, output_keys=CHANNELS))
schema = graph.get_context_jsonschema()["properties"]
print(json.dumps([state["answer"], state["citations"], state["route"], [s["node"] for s in state["trace"]], schema]))
"""


def installed(home: Path, group: str, place: str, source: str) -> None:
    """Write the package: a module, and the metadata that pip would write for it. Nothing of Anabranch is touched."""
    metadata = home / "package/theirs-1.0.dist-info"
    metadata.mkdir(parents=True)
    (home / "package/theirs.py").write_text(source)
    (metadata / "entry_points.txt").write_text(f"[anabranch.{group}]\n{place}\n")
    assert len([file for file in (home / "package").rglob("*") if file.is_file()]) == 2


def run(home: Path, river: str, *arguments: str) -> str:
    """Run Python in a process of its own, where the package is installed; return what it prints."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(home / "package"), str(REPOSITORY)])}
    if not (home / "corpus").exists():
        (home / "corpus").symlink_to(river)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=home, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_retriever_is_two_files(tmp_path: Path, river: str) -> None:
    installed(tmp_path, "retrievers", "bridges = theirs:Bridges", RETRIEVER)
    question = "Who opened the Cedar bridge?"
    code = ASK.format(question=question, options="retrievers=('bm25', 'dense', 'bridges')")
    answer, citations, _, nodes, schema = json.loads(run(tmp_path, river, "-c", code))
    assert "Adelaide Finch" in answer
    assert [citation["source"] for citation in citations] == ["bridges"]
    assert nodes.count("retrieve") == 3
    assert "bridges" in schema["retrievers"]["examples"][0]
    command = ["-m", "anabranch.cli", "ask", question, "--corpus", "corpus", "--set", 'retrievers=["bridges"]']
    assert "Adelaide Finch" in run(tmp_path, river, *command)


@pytest.mark.slow
def test_a_synthesis_mode_is_two_files(tmp_path: Path, river: str) -> None:
    installed(tmp_path, "synthesis_modes", "first_words = theirs:first_words", MODE)
    question = "Who built the Halden weir?"
    code = ASK.format(question=question, options="synthesis='first_words', model='openai:none'")
    environment = "import os; os.environ['OPENAI_API_KEY'] = 'unused'\n"
    answer, citations, route, nodes, schema = json.loads(run(tmp_path, river, "-c", environment + code))
    assert route["name"] == "installed"
    assert "installed" in nodes
    assert "create" not in nodes
    assert len(answer.split()) <= 13
    assert citations[0]["verified"]
    assert "first_words" in schema["synthesis"]["enum"]


TALK = """
import asyncio, json, os
os.environ["OPENAI_API_KEY"] = "unused"
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from graph.answer import build
from nodes.settings import Context
graph = build().compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "t"}}
context = Context(corpus="corpus", synthesis="first_words", review="sources")
for question in ("Who built the Halden weir?", "What is the diameter of the water wheel?"):
    graph.invoke({"question": question}, config, context=context)
    state = graph.invoke(Command(resume=True), config, context=context)
print(json.dumps([message.type for message in state["messages"]]))
"""


@pytest.mark.slow
def test_a_mode_answers_every_turn_of_a_conversation_also_after_a_pause_and_without_a_model(
    tmp_path: Path, river: str
) -> None:
    installed(tmp_path, "synthesis_modes", "first_words = theirs:first_words", MODE)
    assert json.loads(run(tmp_path, river, "-c", TALK)) == ["human", "ai", "human", "ai"]


@pytest.mark.slow
def test_a_mode_that_cannot_be_imported_harms_nobody_who_does_not_ask_for_it(tmp_path: Path, river: str) -> None:
    installed(tmp_path, "synthesis_modes", "pack = theirs:pack", "raise RuntimeError('no licence')")
    question = "Who built the Halden weir?"
    answer, *_ = json.loads(run(tmp_path, river, "-c", ASK.format(question=question, options="")))
    assert "Ida Marrow" in answer
    asked = ["-m", "anabranch.cli", "ask", question, "--corpus", "corpus", "--set", "synthesis=pack"]
    with pytest.raises(AssertionError, match="no licence"):
        run(tmp_path, river, *asked)

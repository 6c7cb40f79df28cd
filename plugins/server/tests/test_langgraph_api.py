"""`langgraph dev` (without --allow-blocking), `anabranch serve` and Aegra: offline, without a key, by langgraph-sdk."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from anabranch.citations.citation_record import LONGEST
from plugins.server.tests.aegra_server import aegra_servers
from plugins.server.tests.dev_server import dev_server
from plugins.server.tests.serve_process import serving
from tests.graph.levels import most_at_once, twenty_notes
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.shared_fixtures import REPOSITORY

pytest.importorskip("langgraph_api", reason="the extra `server` is not installed")
pytestmark = [pytest.mark.loopback, pytest.mark.slow]

QUESTION = {"question": "Who built the Halden weir?"}


DEV, SERVE, AEGRA = "langgraph dev", "anabranch serve", "aegra"


@pytest.fixture(scope="module", params=[DEV, SERVE, AEGRA])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("server")
    if kind == SERVE:
        shutil.copytree(REPOSITORY / "tests" / "samples", home / "samples")
        with serving(home, ANABRANCH_INGEST_ROOT=".") as process:
            yield process.url
    elif kind == AEGRA:
        with aegra_servers(home, ANABRANCH_INGEST_ROOT=str(home)) as (one,):
            yield one.url
    else:
        with dev_server(home, fresh=True, ANABRANCH_INGEST_ROOT=".") as (url, _):
            yield url


@pytest.fixture
async def client(server: str) -> Any:
    from langgraph_sdk import get_client

    async with get_client(url=server) as found:
        yield found


@pytest.fixture
async def filled(client: Any) -> Any:
    """The corpus, filled through the ingest graph itself."""
    result = await client.runs.wait(None, "ingest", input={"paths": ["samples"]})
    assert {row["status"] for row in result["files"]} <= {"added", "unchanged"}
    return client


async def test_ingest_and_answer_on_a_thread(filled: Any) -> None:
    thread = await filled.threads.create()
    state = await filled.runs.wait(thread["thread_id"], "answer", input=QUESTION)
    assert "Ida Marrow" in state["answer"]
    assert state["citations"][0]["grade"] in ("quoted", "found")
    (block,) = state["messages"][-1]["content"]  # what chat pages read
    (source, *_) = block["annotations"]
    assert block["text"][source["start_index"] : source["end_index"]] == "[1]"
    # Of a passage that is shown whole the beginning: all of it is in the text.
    assert source["cited_text"] == state["citations"][0]["quote"][:LONGEST]
    history = await filled.threads.get_history(thread["thread_id"], limit=50)
    steps = {step for snapshot in history for step in snapshot["next"]}
    assert {"begin", "retrieval", "pack", "create", "cite", "finish"} <= steps
    traced = {step["node"] for step in state["trace"]}
    assert {"rewrite", "retrieve", "fuse", "rerank", "merge", "grade"} <= traced
    assert "condense" not in traced  # there is nothing before the first question that it could follow
    follow_up = {"question": "When did she rebuild the abutment?"}
    state = await filled.runs.wait(thread["thread_id"], "answer", input=follow_up)
    assert "condense" in {step["node"] for step in state["trace"]}


@pytest.mark.parametrize(("config", "most"), [({}, 8), ({"max_concurrency": 2}, 2)])
async def test_no_more_windows_are_read_at_once_than_the_run_may(
    client: Any, config: Any, most: int, tmp_path: Path
) -> None:
    with OpenAIStub(model()) as stub:
        windows = {"synthesis": "map_reduce", "window_tokens": 64, "top_k": 20, "depth": 40, "fan_in": 20}
        context = {"corpus": twenty_notes(tmp_path), "strategy": "none", "merge_threshold": 1.0, **windows}
        context |= {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        question = {"question": "What measures protect the town from floods on the Halden?"}
        state = await client.runs.wait(None, "answer", input=question, context=context, config=config)
        assert [step["counts"]["windows"] for step in state["trace"] if step["node"] == "pack"] == [20]
        assert most_at_once(stub, "create") == most


@pytest.mark.parametrize("path", ["/etc", ".env", ".ssh/id_rsa", "samples/../.env", ".langgraph_api"])
async def test_ingest_stays_inside_its_root_and_passes_by_what_is_hidden(filled: Any, path: str) -> None:
    result = await filled.runs.wait(None, "ingest", input={"paths": [path]}, raise_error=False)
    assert "outside the ingest root" in str(result)


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/openapi.json", "/ok", "/info", "/assistants/none"])
async def test_no_page_runs_what_is_from_elsewhere_or_is_framed(server: str, kind: str, path: str) -> None:
    if kind == AEGRA:
        pytest.skip("its own routes are not our application's")
    async with httpx.AsyncClient(base_url=server, timeout=60) as http:
        reply = await http.get(path)
    policy = reply.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert reply.headers["x-frame-options"] == "DENY"
    # LangGraph's own page of its routes loads scripts from elsewhere; under the policy it stays empty.
    assert (path == "/docs" and kind == DEV) == ("cdn." in reply.text)


async def test_the_context_is_a_typed_form(filled: Any) -> None:
    (assistant,) = [a for a in await filled.assistants.search(limit=10) if a["graph_id"] == "answer"]
    schemas = await filled.assistants.get_schemas(assistant["assistant_id"])
    fields = schemas["context_schema"]["properties"]
    assert fields["top_k"]["maximum"] == 1000
    assert fields["top_k"]["langgraph_nodes"] == ["rerank", "merge"]
    assert fields["fusion"]["enum"] == ["complete", "convex", "rrf", "z_score", "dbsf"]
    assert fields["create_prompt"]["langgraph_type"] == "prompt"
    assert set(schemas["input_schema"]["properties"]) == {"question", "messages", "filters"}


async def test_streams(filled: Any) -> None:
    thread = await filled.threads.create()
    modes: dict[str, list[Any]] = {}
    async for part in filled.runs.stream(
        thread["thread_id"], "answer", input=QUESTION, stream_mode=["updates", "messages-tuple", "custom"]
    ):
        modes.setdefault(part.event, []).append(part.data)
    assert "error" not in modes, modes["error"]
    assert next(iter(modes["updates"][0])) == "begin"
    assert modes["updates"][-1]["finish"]["messages"]
    assert "Ida Marrow" in "".join(data[0]["content"] for data in modes["messages"])
    assert {data[0]["type"] for data in modes["messages"]} <= {"ai", "AIMessageChunk"}
    assert modes["custom"][0]["step"] == "begin"


@pytest.mark.parametrize("modes", [["messages", "values"], ["messages", "messages-tuple"]])
async def test_messages_stream_as_far_as_they_are_written(filled: Any, modes: list[str], kind: str) -> None:
    if kind == AEGRA:
        pytest.skip("aegra has its own form of these events")
    parts: dict[str, list[Any]] = {}
    async for part in filled.runs.stream(None, "answer", input=QUESTION, stream_mode=modes):
        parts.setdefault(part.event, []).append(part.data)
    assert "error" not in parts, parts["error"]
    if "messages-tuple" in modes:
        # The one excludes the other.
        assert "Ida Marrow" in "".join(data[0]["content"] for data in parts["messages"])
        assert not {"messages/metadata", "messages/partial", "messages/complete"} & set(parts)
        return
    (told,), said = parts["messages/metadata"], [message for (message,) in parts["messages/partial"]]
    (known,) = {message["id"] for message in said}
    assert list(told) == [known]
    assert set(told[known]) == {"metadata"}
    assert {message["type"] for message in said} == {"ai"}
    texts = [message["content"] for message in said]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert "Ida Marrow" in texts[-1]
    assert "Ida Marrow" in parts["values"][-1]["answer"]
    assert "messages" not in parts


async def test_other_agents_get_the_words_and_what_the_graphs_are_for(filled: Any, server: str, kind: str) -> None:
    if kind != DEV:
        pytest.skip("of the three, only LangGraph's own server speaks A2A")
    assistants = {each["name"]: each for each in await filled.assistants.search()}
    for each in assistants.values():
        assert each["description"] in (REPOSITORY / "langgraph.json").read_text()
    message = {"role": "user", "messageId": "1", "parts": [{"kind": "text", "text": QUESTION["question"]}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    async with httpx.AsyncClient(base_url=server, timeout=120) as http:
        reply = (await http.post(f"/a2a/{assistants['answer']['assistant_id']}", json=body)).json()
        (artifact,) = reply["result"]["task"]["artifacts"]
        (part,) = artifact["parts"]
        assert "Ida Marrow" in part["text"]
        # LangGraph's own would offer `ingest` to every assistant, and answer with Python's own writing of the whole
        # result; what is there is ours.
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        listed = await http.post("/mcp", json=asked, headers={"Accept": "application/json, text/event-stream"})
        assert all(f'"name":"{name}"' in listed.text for name in ("list_documents", "search", "grep", "read", "ask"))
        assert "ingest" not in listed.text


async def test_a_conversation(filled: Any) -> None:
    thread = await filled.threads.create()
    message = {"messages": [{"role": "user", "content": "Who built the Halden weir?"}]}
    await filled.runs.wait(thread["thread_id"], "answer", input=message)
    more = {"messages": [{"role": "user", "content": "When did she rebuild the abutment?"}]}
    state = await filled.runs.wait(thread["thread_id"], "answer", input=more)
    assert "1899" in state["answer"]
    assert len(state["messages"]) == 4


async def test_pause_and_resume_without_the_context(filled: Any) -> None:
    thread = await filled.threads.create()
    paused = await filled.runs.wait(
        thread["thread_id"], "answer", input=QUESTION, context={"review": "sources", "top_k": 5}
    )
    (waiting,) = paused["__interrupt__"]
    offered = waiting["value"]["passages"]
    state = await filled.threads.get_state(thread["thread_id"])
    shown = (await filled.threads.get(thread["thread_id"]))["interrupts"] or {"": state["interrupts"]}
    for each in (waiting, *state["tasks"][0]["interrupts"], *next(iter(shown.values()))):
        assert each["id"] == waiting["id"]
        assert each["response_schema"]["anyOf"][1]["items"] == {"enum": [passage["id"] for passage in offered]}
    reply = {waiting["id"]: [offered[0]["id"]]}
    state = await filled.runs.wait(thread["thread_id"], "answer", command={"resume": reply})
    assert [passage["id"] for passage in state["passages"]] == [offered[0]["id"]]
    assert state["answer"]


async def test_a_run_of_another_version_is_refused_and_its_thread_goes_on(filled: Any) -> None:
    thread = (await filled.threads.create())["thread_id"]
    await filled.runs.wait(thread, "answer", input=QUESTION, context={"review": "sources"})
    turn = (await filled.threads.get_state(thread))["values"]["turn"]
    later = {"turn": {**turn, "version": turn["version"] + 1}}
    await filled.threads.update_state(thread, later, as_node="review_sources")
    refused = await filled.runs.wait(thread, "answer", command={"resume": True}, raise_error=False)
    assert "Another version of Anabranch began this run" in str(refused)
    assert "Ask the question again in this conversation" in str(refused)
    state = await filled.runs.wait(thread, "answer", input=QUESTION)
    assert "Ida Marrow" in state["answer"]
    assert len(state["messages"]) == 3


async def test_fork_from_a_step(filled: Any) -> None:
    thread = await filled.threads.create()
    await filled.runs.wait(thread["thread_id"], "answer", input=QUESTION)
    history = await filled.threads.get_history(thread["thread_id"], limit=50)
    before = next(snapshot for snapshot in history if snapshot["next"] == ["retrieval"])
    state = await filled.runs.wait(
        thread["thread_id"],
        "answer",
        input=None,
        checkpoint_id=before["checkpoint"]["checkpoint_id"],
        context={"top_k": 1},
    )
    assert len(state["passages"]) == 1
    assert [step["node"] for step in state["trace"]].count("begin") == 1


async def test_errors_say_what_to_do(filled: Any) -> None:
    thread = await filled.threads.create()
    empty = await filled.runs.wait(thread["thread_id"], "answer", input={"question": " "}, raise_error=False)
    assert "The question is empty" in str(empty)
    wrong = await filled.runs.wait(
        thread["thread_id"], "answer", input=QUESTION, context={"top_k": 100_000}, raise_error=False
    )
    assert "top_k" in str(wrong)
    absent = await filled.runs.wait(
        thread["thread_id"], "answer", input=QUESTION, context={"corpus": "/nowhere/at/all"}, raise_error=False
    )
    assert "There is no corpus at /nowhere/at/all" in str(absent)


def test_a_dockerfile_is_made(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "langgraph.json", tmp_path)
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    shutil.copytree(REPOSITORY / "graph", tmp_path / "graph")
    langgraph = str(Path(sys.executable).parent / "langgraph")
    done = subprocess.run([langgraph, "dockerfile", "Dockerfile"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "langgraph-api" in (tmp_path / "Dockerfile").read_text()
    ignored = (REPOSITORY / ".dockerignore").read_text().split()
    assert {".env", ".anabranch", "**/corpus.db"} <= set(ignored)

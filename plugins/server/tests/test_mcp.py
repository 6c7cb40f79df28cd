"""The tools over standard input and output and over HTTP, through the official client."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from fastapi import FastAPI

from anabranch.errors import AnabranchError
from anabranch.ingestion.pipeline import ingest
from anabranch_server import mcp_routes
from anabranch_server.application import refusal
from plugins.server.tests.serve_process import serving
from tests.shared_fixtures import REPOSITORY

if TYPE_CHECKING:
    from mcp import ClientSession

pytestmark = [pytest.mark.loopback, pytest.mark.slow]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    home = tmp_path_factory.mktemp("mcp")
    shutil.copytree(REPOSITORY / "tests" / "samples", home / "samples")
    ingest([home / "samples"], home / "corpus")
    return home / "corpus"


@pytest.fixture(scope="module")
def url(corpus: Path) -> Iterator[str]:
    with serving(corpus.parent, "--corpus", str(corpus)) as server:
        yield server.url


@asynccontextmanager
async def over_http(url: str) -> AsyncIterator[ClientSession]:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with streamable_http_client(f"{url}/mcp") as (read, write), ClientSession(read, write) as found:
        await found.initialize()
        yield found


@asynccontextmanager
async def over_stdio(corpus: Path) -> AsyncIterator[ClientSession]:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    arguments = ["-m", "anabranch.cli", "mcp", "--corpus", str(corpus)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")}
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=REPOSITORY)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as found:
        await found.initialize()
        yield found


async def called(session: ClientSession, tool: str, **arguments: Any) -> Any:
    return await session.call_tool(tool, arguments)


# A process for standard input and output takes seconds to start: one is asked in test_clients_page.py.
WAYS = pytest.mark.parametrize("way", [pytest.param("stdio", marks=pytest.mark.exhaustive), "http"])


@WAYS
async def test_an_assistant_asks_searches_and_reads_on(way: str, corpus: Path, url: str) -> None:
    async with over_http(url) if way == "http" else over_stdio(corpus) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == {"list_documents", "search", "grep", "read", "ask"}
        assert all(
            tool.description and tool.output_schema and tool.annotations.read_only_hint for tool in tools.values()
        )

        steps = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))

        asked = {"question": "Who built the Halden weir?"}
        answered = (await session.call_tool("ask", asked, progress_callback=note)).structured_content
        assert [number for number, _, _ in steps] == list(range(1, len(steps) + 1))
        assert {total for _, total, _ in steps} == {None}
        # The search's own steps are among them.
        assert {"begin", "retrieve", "grade", "cite", "finish"} <= {step for _, _, step in steps}
        assert "Ida Marrow" in answered["answer"]
        assert not answered["abstained"]
        assert "Ida Marrow" in answered["sources"][0]["quote"]

        search = (await called(session, "search", query="abutment", limit=2)).structured_content
        assert "data" in search["notice"]
        found = search["items"]
        assert len(found) == 2
        following = await called(session, "search", query="abutment", limit=2, cursor=search["cursor"])
        assert following.structured_content["items"][0] not in found
        here = {"document": found[0]["document_id"], "from": found[0]["number"], "to": found[0]["number"]}
        assert (await called(session, "read", **here)).structured_content["items"] == [found[0]]
        source = answered["sources"][0]
        scanned = (await called(session, "grep", pattern="Ida * Marrow")).structured_content["items"]
        assert (source["document_id"], source["number"]) in {(each["document_id"], each["number"]) for each in scanned}
        listed = (await called(session, "list_documents", filters={"source": "weir.md"})).structured_content["items"]
        assert [each["document_id"] for each in listed] == [found[0]["document_id"]]

        absent = await called(session, "read", document="nothing")
        assert absent.is_error
        assert "`list_documents` lists those" in absent.content[0].text
        assert "nothing to look for" in (await called(session, "grep", pattern="*")).content[0].text


@asynccontextmanager
async def without_corpus(way: str, home: Path) -> AsyncIterator[ClientSession]:
    if way == "stdio":
        async with over_stdio(home / "none") as session:
            yield session
        return
    with serving(home, "--corpus", str(home / "none")) as server:
        async with over_http(server.url) as session:
            yield session


@WAYS
async def test_a_corpus_that_is_not_there_is_said(way: str, tmp_path: Path) -> None:
    async with without_corpus(way, tmp_path) as session:
        failed = await called(session, "search", query="weir")
        assert failed.is_error
        assert "There is no corpus" in failed.content[0].text
        asked = await called(session, "ask", question="Who built the weir?")
        assert asked.is_error
        assert "There is no corpus" in asked.content[0].text


WRONG = [
    ("search", {}, ["`query` is missing", "`query` (text)", "`limit` (whole number from 1 to 20, may be left out)"]),
    (
        "ask",
        {"frage": "Wer baute das Wehr?"},
        ["`question` is missing", "`frage` is not an argument", "`question` (text)"],
    ),
    ("search", {"query": "weir", "top_k": 3}, ["`top_k` is not an argument"]),
    ("search", {"query": "weir", "limit": 100}, ["`limit` has an invalid value", "from 1 to 20"]),
    ("search", {"query": "weir", "filters": "weir.md"}, ["`filters` has an invalid value", "`filters` (JSON object"]),
    ("grep", {"pattern": "x" * 201}, ["`pattern` has an invalid value", "at most 200 characters"]),
    ("read", {"document": "weir.md", "from": 0}, ["`from` has an invalid value", "`to` (whole number from 1 to"]),
    ("read", {"document": "weir.md", "first": 1}, ["`first` is not an argument"]),
]


async def test_what_is_wrong_with_an_argument_is_said_in_a_few_words(url: str) -> None:
    async with over_http(url) as session:
        for tool, arguments, told in WRONG:
            failed = await called(session, tool, **arguments)
            assert failed.is_error
            text = failed.content[0].text
            assert all(each in text for each in told)
            assert "pydantic" not in text
            assert "\n" not in text
            assert len(text) < 300


def test_other_sites_and_other_names_reach_no_tool(url: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    told = [
        httpx.post(f"{url}/mcp", json=body, headers=accept | more, timeout=60)
        for more in ({}, {"Origin": "https://evil.example"}, {"Host": "rebound.example"})
    ]
    assert [reply.status_code for reply in told] == [200, 403, 403]
    assert "list_documents" in told[0].text
    # Without sessions there is nothing to listen to and nothing to end.
    assert [httpx.request(each, f"{url}/mcp", timeout=60).status_code for each in ("GET", "DELETE")] == [405, 405]


async def test_without_its_extra_a_way_in_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    # As where the protocol's package is absent.
    monkeypatch.setitem(sys.modules, "mcp.server.transport_security", None)
    app = FastAPI()
    app.include_router(mcp_routes.router)
    app.add_exception_handler(AnabranchError, refusal)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        app.state.services = None
        tools = await http.post("/mcp", json={})
    assert "pip install 'anabranch[mcp]'" in tools.json()["detail"]

"""The tools over standard input and output, through the official client."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from anabranch.ingestion.pipeline import ingest
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("mcp")
    shutil.copytree(REPOSITORY / "tests" / "samples", home / "samples")
    ingest([home / "samples"], home / "corpus")
    return home / "corpus"


async def session_of(corpus: Path) -> AsyncIterator[ClientSession]:
    arguments = ["-m", "anabranch.cli", "mcp", "--corpus", str(corpus)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")}
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=REPOSITORY)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def called(session: ClientSession, tool: str, **arguments: Any) -> Any:
    return await session.call_tool(tool, arguments)


async def test_an_assistant_asks_searches_and_reads_on(corpus: Path) -> None:
    async for session in session_of(corpus):
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == {"ask", "search", "get_passage"}
        assert all(
            tool.description and tool.output_schema and tool.annotations.read_only_hint for tool in tools.values()
        )

        answered = (await called(session, "ask", question="Who built the Halden weir?")).structured_content
        assert "Ida Marrow" in answered["answer"]
        assert not answered["abstained"]
        assert "Ida Marrow" in answered["sources"][0]["quote"]

        found = (await called(session, "search", query="abutment", limit=2)).structured_content["passages"]
        assert 1 <= len(found) <= 2
        around = (await called(session, "get_passage", passage_id=found[0]["passage_id"])).structured_content
        assert len(around["text"]) >= len(found[0]["text"])

        absent = await called(session, "get_passage", passage_id="nothing")
        assert absent.is_error
        assert "Take an id from" in absent.content[0].text


async def test_a_corpus_that_is_not_there_is_said(tmp_path: Path) -> None:
    async for session in session_of(tmp_path / "none"):
        failed = await called(session, "search", query="weir")
        assert failed.is_error
        assert "There is no corpus" in failed.content[0].text

"""What the page on chat programs and assistants shows works: its Python, and the commands in its configurations."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from pathlib import Path

import httpx
import pytest

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.serve_process import serving
from tests.shared_fixtures import REPOSITORY
from tests.test_readme import NOTES

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

PAGE = (REPOSITORY / "docs" / "clients.md").read_text(encoding="utf-8")
CONFIGURATIONS = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(textwrap.dedent(text), encoding="utf-8")
    ingest(folder / "notes", folder / "corpus")
    return folder


def test_the_example_with_the_openai_client_prints_the_answer_and_its_quote(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"^```python no-run\n(from openai.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    with serving(home) as server:
        exec(compile(block.replace("http://127.0.0.1:8300", server.url), "clients.md", "exec"), {})
        # A page of another site is refused, as the section on Agent Chat UI says.
        answered = httpx.post(f"{server.url}/threads", json={}, headers={"Origin": "http://localhost:3000"}, timeout=60)
        assert answered.status_code == 403
    shown = capsys.readouterr().out
    first, best = "No chat model: the passages that match best.", "The boiler is serviced every October by the plumber."
    assert shown.startswith(f"{first}\n\n[1] boiler.md, The boiler > Service\n\n")
    assert f"**{best}** The landlord pays" in shown
    # The quote is the whole passage as it stands, in which nothing is bold.
    quoted = shown.partition("The boiler > Service - ")[2]
    assert quoted.startswith("The boiler\n\nService\n\n")
    assert f"{best} The landlord pays for the service of the boiler.\n" in quoted


async def test_the_command_of_the_configurations_gives_the_tools(home: Path) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    every = [servers["documents"] for each in CONFIGURATIONS for servers in each.values()]
    shown, other = [each for each in every if "command" in each]
    assert other == {"type": "stdio", **shown}
    assert Path(shown["command"]).name == "anabranch"
    arguments = [str(home / "corpus") if each.endswith(".corpus") else each for each in shown["args"]]
    assert str(home / "corpus") in arguments
    variables = {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")}
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "anabranch.cli", *arguments], env=variables, cwd=REPOSITORY
    )
    async with stdio_client(started) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        assert {tool.name for tool in (await session.list_tools()).tools} == {
            "list_documents",
            "search",
            "grep",
            "read",
            "ask",
        }
        answered = await session.call_tool("ask", {"question": "Who has the spare key?"})
        assert "number 12" in answered.content[0].text


def test_there_are_configurations_of_both_kinds() -> None:
    assert sum("command" in str(each) for each in CONFIGURATIONS) == 2
    assert sum("/mcp" in str(each) for each in CONFIGURATIONS) == 1

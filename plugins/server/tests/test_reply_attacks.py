"""Whatever the authors of documents write, no reply has a live link, picture or tag of theirs, in any form it comes in.

Each text stands in a title, a heading, a subject, an id, a name, a value of metadata and a passage; the model quotes
some of it, gets a number wrong and narrows the search. A reply is looked at as a whole, also one of many pieces.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from anabranch.cli.app import app as command_line
from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server.application import create_app
from scripts.page import PAGE
from tests.graph.replies import first_sentence, model, passages_in
from tests.safety.hostile_text import HOST, HOSTILE, find_live
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

VALUES = [f"![Works](//{HOST}/a.png)", f"<img src=//{HOST}> Works", f"Works www.{HOST}/x"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202e]")


def weir(number: int) -> str:
    return f"Halden{number:03}"


def question(number: int) -> str:
    return f"Who built {weir(number)} in the Works?"


def write(folder: Path, number: int, text: str) -> None:
    """Write the documents of one text, each in a format of its own, which put it into another place."""
    name, value = weir(number), VALUES[number % len(VALUES)]
    said = f"{name} by the {{}} was built by Ida Marrow in {1900 + number}, see {text} and more."
    meta = f"---\ntitle: {json.dumps(text)}\ndepartment: {json.dumps(value)}\n---\n"
    row = {"id": f"{text} {number}", "title": text, "text": said.format("sea"), "department": value}
    unnamed = {"id": f"{number} {text}", "text": said.format("hill"), "department": value}
    (folder / f"{number}.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(unnamed)}\n")
    file = re.sub(r"[/\x00-\x1f]", "", text)[:60] + f" {number}.md"
    (folder / file).write_text(f"{meta}# {' '.join(text.split())}\n\n{said.format('lake')}\n", "utf-8", "replace")
    (folder / f"{number}.html").write_text(
        f"<title>{escape(text)}</title><h1>{escape(text)}</h1><p>{escape(said.format('road'))}</p>"
    )
    mail = EmailMessage()
    mail["Subject"], mail["From"] = re.sub(r"[\r\n\x00-\x1f]+", " ", text), "ada@example.org"
    mail.set_content(said.format("moor"))
    (folder / f"{number}.eml").write_bytes(bytes(mail))


def written(request: Request) -> Reply:
    """Quote each passage, and then get the year of the first one wrong."""
    told = [f"{first_sentence(text)} [{number}]" for number, text in passages_in(request).items()]
    name = re.search(r"Halden\d+", request.user.rpartition("</passages-")[2])
    return Reply(" ".join([*told, f"{name and name[0]} by the sea was built by Ida Marrow in 1850 [1]."]))


def planned(request: Request) -> Reply:
    number = int(re.search(r"Halden(\d+)", request.user)[1])  # type: ignore[index]
    return Reply(f"weir\nONLY: department = {VALUES[number % len(VALUES)]}" if number % 2 else "weir")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("replies")
    (home / "documents").mkdir()
    for number, text in enumerate(HOSTILE):
        write(home / "documents", number, text)
    report = ingest([home / "documents"], home / "corpus")
    assert report.count("added") == 4 * len(HOSTILE), [row for row in report.rows if row.status != "added"]
    yield home


@pytest.fixture
def stub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIStub]:
    with OpenAIStub(model(rewrite=planned, create=written)) as stub:
        values = {
            "CORPUS": home / "corpus", "MODEL": "openai:stub", "BASE_URL": stub.base_url, "INFER_FILTER": "true",
            "SYNTHESIS": "stuff", "EFFORT": "normal",
        }  # fmt: skip
        for name, value in values.items():
            monkeypatch.setenv(f"ANABRANCH_{name}", str(value))
        environment.cache_clear()
        yield stub
    environment.cache_clear()


@asynccontextmanager
async def client(home: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(str(home / "data"))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=600) as http,
    ):
        yield http


async def complete(http: httpx.AsyncClient, number: int, **more: Any) -> str:
    """Return the content of a completion, of a stream what its pieces make."""
    body = {"model": "anabranch", "messages": [{"role": "user", "content": question(number)}], **more}
    reply = await http.post("/v1/chat/completions", json=body)
    assert reply.status_code == 200, reply.text
    if not more.get("stream"):
        return str(reply.json()["choices"][0]["message"]["content"])
    lines = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")]
    return "".join(each["choices"][0]["delta"].get("content") or "" for each in lines)


def answer_in(content: str) -> str:
    """Return the answer alone, in which tags are text, as the guide says."""
    return re.split(r"\n\n(?=\[\d+\] |Searched only: |Not confirmed: )", content)[0]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_completion(home: Path, stub: OpenAIStub, stream: bool) -> None:
    seen = ""
    async with client(home) as http:
        for number in range(int(stream), len(HOSTILE), 2):
            content = await complete(http, number, stream=stream)
            assert find_live(content, answer_in(content)) == [], content
            assert "\n\n[1] " in content
            seen += content
    told = "\n".join(each for each in seen.splitlines() if re.match(r"\[\d+\] |Searched only|Not confirmed", each))
    assert told.count(HOST) > len(HOSTILE)
    assert seen.count("Nearest words: “Halden") >= len(HOSTILE) // 3
    # Every other question is about works of a department.
    assert ("Searched only: department =" in seen) == stream


async def test_a_completion_without_a_model(home: Path, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANABRANCH_MODEL")
    environment.cache_clear()
    async with client(home) as http:
        for number in range(0, len(HOSTILE), 4):
            content = await complete(http, number)
            assert find_live(content, content) == [], content
            assert HOST in content


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            # What `read` and `search` return word for word is data, which a model reads.
            yield from () if name == "text" else strings(each)
    elif isinstance(value, str):
        yield value


def check_tool(result: dict[str, Any]) -> None:
    assert not result.get("isError"), result
    found = result["structuredContent"]
    told = "\n\n".join(strings(found))
    assert find_live(told, str(found.get("answer", ""))) == [], told


CALLS = (("ask", "question"), ("search", "query"))


async def test_tools_over_http(home: Path, stub: OpenAIStub) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    accept = {"Accept": "application/json, text/event-stream"}
    async with client(home) as http:
        for number in range(0, len(HOSTILE), 3):
            for name, argument in (*CALLS, ("list_documents", "cursor"), ("grep", "pattern"))[: 4 if not number else 2]:
                given = {"cursor": "", "pattern": weir(number)}.get(argument, question(number))
                called = {"name": name, "arguments": {argument: given}}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
                reply = await http.post("/mcp", json=body, headers=accept)
                text = next(line for line in reply.text.splitlines() if '"jsonrpc"' in line)
                check_tool(json.loads(text.removeprefix("data: "))["result"])


async def test_tools_of_the_command(home: Path, stub: OpenAIStub) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from mcp import Client

    from anabranch_server.mcp_tools import mcp_server

    async with Client(mcp_server()) as session:
        for number in range(1, len(HOSTILE), 4):
            for name, argument in CALLS:
                result = await session.call_tool(name, {argument: question(number)})
                check_tool({"structuredContent": result.structured_content, "isError": result.is_error})


async def test_the_export_of_the_page(home: Path, stub: OpenAIStub, tmp_path: Path) -> None:
    """What the page makes of the results that the server gives it; the page's own code runs in Node."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    turns: list[dict[str, Any]] = []
    async with client(home) as http:
        for number in range(0, len(HOSTILE), 3):
            body = {"assistant_id": "answer", "input": {"question": question(number)}}
            values = (await http.post("/runs/wait", json=body)).json()
            turns.append({"values": {**values, "original_question": f"{question(number)} {HOSTILE[number]}"}})
    (tmp_path / "turns.json").write_text(json.dumps(turns))
    script = (
        f'import {{ asMarkdown }} from "{PAGE / "src" / "conversation.js"}"; import {{ readFileSync }} from "fs";'
        f'for (const turn of JSON.parse(readFileSync("{tmp_path / "turns.json"}", "utf8")))'
        "  process.stdout.write(JSON.stringify(asMarkdown(turn.values.original_question, [turn])) + '\\n');"
    )
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    written = [json.loads(line) for line in done.stdout.splitlines()]
    for text, turn in zip(written, turns, strict=True):
        assert find_live(text, turn["values"]["answer"]) == [], text
        assert "\n> Nearest words: Halden" in text


def check_terminal(result: Result, home: Path) -> str:
    assert result.exit_code == 0, result.output
    links = [found[1] for found in ESCAPES.finditer(result.output) if found[1]]
    assert all(link.startswith(f"file://{home}") for link in links), links
    text = ESCAPES.sub("", result.output)
    assert not CONTROL.search(text), text
    return text


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("command", [["ask"], ["search"], ["ask", "--explain"], ["chat"]], ids=" ".join)
def test_the_terminal(
    home: Path, stub: OpenAIStub, command: list[str], terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    seen = ""
    for number in range(int(terminal), len(HOSTILE), 8):
        environment.cache_clear()
        is_chat = command == ["chat"]
        asked = command if is_chat else [command[0], question(number), *command[1:]]
        lines = f"{question(number)}\n/sources\n/explain\n" if is_chat else None
        text = check_terminal(CliRunner().invoke(command_line, asked, input=lines), home)
        shown = text.partition("Prompt 1 of")[0].replace(stub.base_url, "")
        assert not re.search(r"(?i)https?:[/\\]|www\.\w|mailto:\S|xmpp:\S|\]\(", shown), shown
        seen += shown
    assert HOST in seen

"""The tools in the page's API: the same results as in code, within the caller's tags and limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from anabranch import as_tools
from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server.application import create_app
from anabranch_server.identity.api_keys import digest_of_secret, new_key

SALARY = "The salary of the director is 91000."
KEYS = {name: new_key() for name in ("alice", "eve")}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two notes; the one on the salary is for the tag `hr`."""
    home = tmp_path_factory.mktemp("tools")
    (home / "canteen.md").write_text("# Canteen\n\nThe canteen opens at eleven.\n", encoding="utf-8")
    (home / "salary.md").write_text(f"# Salary\n\n{SALARY}\n", encoding="utf-8")
    ingest(home / "canteen.md", home / "corpus")
    ingest(home / "salary.md", home / "corpus", access=["hr"])
    return str(home / "corpus")


@pytest.fixture
async def http(corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    entries: list[dict[str, Any]] = [{"identity": name, "sha256": digest_of_secret(key)} for name, key in KEYS.items()]
    entries[0]["access"] = ["hr"]
    (tmp_path / "auth.yaml").write_text(yaml.safe_dump({"keys": entries, "limits": {"per_minute": 25}}))
    monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))
    monkeypatch.setenv("ANABRANCH_CORPUS", corpus)
    environment.cache_clear()
    app = create_app(str(tmp_path / "data"))
    begun, ended = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        # In one task: a fixture's two halves run in two, which the task groups of MCP's sessions do not allow.
        async with app.router.lifespan_context(app):
            begun.set()
            await ended.wait()

    life = asyncio.create_task(live())
    await begun.wait()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as one:
        yield one
    ended.set()
    await life


async def called(http: httpx.AsyncClient, who: str, tool: str, **arguments: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {KEYS[who]}"} if who else {}
    return await http.post(f"/tools/{tool}", json=arguments, headers=headers)


async def test_each_tool_shows_what_the_caller_may_read(http: httpx.AsyncClient, corpus: str) -> None:
    listed = (await called(http, "alice", "list_documents")).json()["items"]
    secret = next(each["document_id"] for each in listed if each["title"] == "Salary")
    calls: dict[str, dict[str, Any]] = {
        "list_documents": {},
        "search": {"query": "What is the salary?"},
        "grep": {"pattern": "salary * 91000"},
        "read": {"document": secret, "from": 1},
    }
    for name, arguments in calls.items():
        shown = await called(http, "alice", name, **arguments)
        assert secret in shown.text
        assert shown.headers["cache-control"] == "no-store"
        hidden = await called(http, "eve", name, **arguments)
        assert SALARY not in hidden.text
        assert secret not in hidden.text or name == "read"
        assert (await called(http, "", name, **arguments)).status_code == 401
    refused, absent = [await called(http, "eve", "read", document=each) for each in (secret, "0" * 16)]
    assert (refused.status_code, absent.status_code) == (404, 404)
    assert refused.text.replace(secret, "0" * 16) == absent.text


async def test_the_results_are_those_of_the_tools_in_code(
    http: httpx.AsyncClient, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: dict[str, dict[str, Any]] = {
        "list_documents": {"filters": {"title": {"glob": "*a*"}}},
        "search": {"query": "canteen", "limit": 1},
        "grep": {"pattern": "the", "document": "canteen.md"},
        "read": {"document": "canteen.md", "from": 1, "to": 1},
    }
    shown = {name: (await called(http, "alice", name, **arguments)).json() for name, arguments in calls.items()}
    monkeypatch.delenv("ANABRANCH_AUTH")
    environment.cache_clear()
    for tool in as_tools(corpus, access=("hr",)):
        if tool.name in calls:
            call = {"type": "tool_call", "id": "1", "name": tool.name, "args": calls[tool.name]}
            assert (await tool.ainvoke(call)).artifact == shown[tool.name]


async def test_wrong_arguments_are_told_and_calls_count(http: httpx.AsyncClient) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("search", {"query": "canteen", "limit": 21}, "limit"),
        ("search", {"query": "canteen", "corpus": "/etc"}, "corpus"),
        ("search", {"query": ""}, "empty"),
        ("search", {"query": "canteen", "filters": {"a": {"b": 1}}}, "unknown operator"),
        ("grep", {"pattern": "*"}, "nothing to look for"),
        ("grep", {"pattern": "x" * 201}, "200 characters"),
        ("read", {"document": "canteen.md", "from": 0}, "from"),
        ("read", {"document": "canteen.md", "from": 2, "to": 1}, "no passages from 2 to 1"),
        ("list_documents", {"cursor": "x"}, "not of this call"),
        ("list_documents", {"cursor": "x" * 201}, "200 characters"),
    ]
    for tool, arguments, message in wrong:
        refused = await called(http, "eve", tool, **arguments)
        assert refused.status_code == 422
        assert message in refused.json()["detail"]
    codes = [(await called(http, "eve", "list_documents")).status_code for _ in range(25)]
    assert codes[0] == 200
    assert codes[-1] == 429

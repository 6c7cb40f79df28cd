"""Ids and numbers that no header, no database and no reader takes: refused in words, never with a broken reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server.request_values import MAX_RUN_CHARS
from plugins.server.tests.gate import ASKED, Served, gated

MAKING = {**ASKED, "if_not_exists": "create"}
FINE = ["你好", "Zoë's weir", "a/b", "%0d%0aX: y", "?#", "\U0001f600"]
ODD = ["a\nb", "a\r\nX-Other: y", "\x00", "a\x00b", "\x1b[31m", "\u2028", "\u202eabc", "x" * 101, "\x85"]


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    async with gated(tmp_path / "data", monkeypatch) as found:
        found.gate.opened.set()
        yield found


@pytest.mark.parametrize("thread", FINE)
async def test_an_id_in_any_script_works_and_a_client_reads_on_where_the_reply_says(
    thread: str, served: Served
) -> None:
    assert await served.thread(thread_id=thread) == thread
    if "/" in thread:  # no path leads there, escaped or not
        return
    for how in ("", "/stream", "/wait"):
        reply = await served.http.post(f"/threads/{quote(thread, safe='')}/runs{how}", json=ASKED)
        assert reply.status_code == 200, reply.text
        assert all(value.isascii() and value.isprintable() for value in reply.headers.values())
        assert (await served.http.get(reply.headers["location"])).status_code == 200
        assert (await served.http.get(reply.headers["content-location"])).json()["thread_id"] == thread


@pytest.mark.parametrize("thread", ODD, ids=ascii)
async def test_an_id_that_is_no_line_of_text_is_refused_everywhere(thread: str, served: Served) -> None:
    made = await served.http.post("/threads", json={"thread_id": thread})
    assert made.status_code == 422, made.text
    assert (await served.http.post("/threads/search", json={"ids": [thread]})).json() == []
    of = f"/threads/{quote(thread, safe='')}"
    for how in ("", "/stream", "/wait"):
        assert (await served.http.post(f"{of}/runs{how}", json=MAKING)).status_code == 422
        assert (await served.http.post(f"{of}/runs{how}", json=ASKED)).status_code == 404
    for method, path in (("GET", ""), ("GET", "/state"), ("DELETE", ""), ("GET", "/runs"), ("GET", "/runs/x/join")):
        assert (await served.http.request(method, f"{of}{path}")).status_code == 404
    assert (await served.http.post(f"{of}/state", json={"values": {"answer": "x"}})).status_code == 404
    assert not served.gate.began.is_set()


async def test_a_run_is_asked_no_more_than_is_worth_keeping(served: Served) -> None:
    long = "x" * MAX_RUN_CHARS
    for more in ({"metadata": {"a": long}}, {"context": {"create_prompt": long}}, {"config": {"tags": [long]}},
                 {"input": {"question": long}}, {"input": {"question": "Who?", "a": long}},
                 {"command": {"resume": long}}):  # fmt: skip
        for path in ("/runs/wait", f"/threads/{await served.thread()}/runs"):
            reply = await served.http.post(path, json={**ASKED, **more})
            assert (reply.status_code, f"{MAX_RUN_CHARS:,} characters" in reply.text) == (422, True), more.keys()


def numbers(described: Any, name: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the schema of each number in a description of requests, with the name that it stands under."""
    if isinstance(described, list):
        for each in described:
            yield from numbers(each, name)
    elif isinstance(described, dict):
        if described.get("type") in ("integer", "number"):
            yield name, described
        of = described["name"] if isinstance(described.get("name"), str) else name
        for key, value in described.items():
            yield from numbers(value, of if key in ("schema", "anyOf", "items") else key)


async def test_every_number_that_a_request_may_have_has_bounds(served: Served) -> None:
    described = served.app.openapi()
    operations = [of for methods in described["paths"].values() for of in methods.values()]
    bodies = {name: body for name, body in described["components"]["schemas"].items() if "ValidationError" not in name}
    found = [*numbers([of.get("parameters", []) for of in operations]), *numbers(bodies)]
    assert {"limit", "offset", "start", "end", "number", "n"} <= {name for name, _ in found}
    assert [(name, schema) for name, schema in found if not {"minimum", "maximum"} <= set(schema)] == []


NUMBERED = [
    "/passages/x?start={}", "/passages/x?end={}", "/documents/x/pages/{}.png", "/documents/x/pages/{}/marks",
    "/documents/x/pages/1/marks?start={}", "/documents?limit={}", "/documents?offset={}",
    "/threads/x/runs?limit={}", "/threads/x/history?limit={}",
]  # fmt: skip


async def test_a_huge_number_is_refused(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weir.md").write_text("# Weir\n\nThe Halden weir was built in 1897.\n")
    await asyncio.to_thread(ingest, [tmp_path / "weir.md"], tmp_path / "corpus")
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    environment.cache_clear()
    for path in NUMBERED:
        for number in ("9" * 20, "-" + "9" * 20, "9" * 5_000, "1e400", "nan"):
            reply = await served.http.get(path.format(number))
            assert (reply.status_code, "cannot be read" in reply.text) == (422, True), (path, number, reply.text)

"""Nobody gets a text or an id of somebody else's, whatever they send to whatever route.

`--attacks 10000` makes a long run of it. A failure names the request, and its number, which chance begins anew with.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from anabranch.safety.operator import environment
from anabranch_server.application import create_app
from anabranch_server.langgraph_page import app as page_app
from plugins.server.tests.attack_world import World
from plugins.server.tests.attacks import Attack, Attacker
from plugins.server.tests.dev_server import dev_server
from plugins.server.tests.serve_process import serving

SEED = 15
AT_ONCE = 8
PATIENCE = 300.0
"""Seconds for a reply, on a machine that does much beside."""

LISTEN = 5.0
ENDLESS = re.compile("/threads/[^/]+/stream")

OFTENER = 3
"""Times that one route is attacked beside the others: it does most, and of its attacks most fail for two reasons."""

LIVE = 10
"""How many times fewer attacks a server in a process of its own gets: it answers one by one."""

Route = tuple[str, str]


def routes_of(app: FastAPI) -> list[Route]:
    """Return every route of an application by method and path; those that are mounted are its own as well."""
    return [
        (method, str(each.path))
        for each in iter_route_contexts(app.routes)
        for method in sorted(getattr(each, "methods", None) or {"GET", "POST", "DELETE"})
        if method != "HEAD"
    ]


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    made = World(tmp_path)
    await made.write()
    for name, value in made.variables().items():
        monkeypatch.setenv(name, value)
    environment.cache_clear()
    yield made


@pytest.fixture
def attacks(request: pytest.FixtureRequest) -> int:
    """How many to make."""
    return int(request.config.getoption("--attacks"))


@asynccontextmanager
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=600) as http,
    ):
        yield http


async def test_on_the_application(world: World, attacks: int) -> None:
    app = create_app(str(world.home / "data"))
    async with client(app) as http:
        await world.live(http)
        seen = await attacked(world, http, routes_of(app), attacks)
        await world.untouched(http)
    assert seen[500] == 0, seen
    assert world.saw_their_own()


@pytest.mark.exhaustive  # the same application as above, and other tests have it in a process of its own
@pytest.mark.loopback
@pytest.mark.slow
async def test_on_a_server_of_its_own(world: World, attacks: int) -> None:
    with serving(world.home, "--data", str(world.home / "data"), **world.variables()) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=600) as http:
            await world.live(http)
            seen = await attacked(world, http, routes_of(create_app("unused")), attacks // LIVE)
            await world.untouched(http)
    assert seen[200] > 0.2 * seen.total(), seen


@pytest.mark.loopback
@pytest.mark.slow
async def test_on_langgraph_dev(world: World, attacks: int) -> None:
    pytest.importorskip("langgraph_api", reason="the extra `server` is not installed")
    variables = {**world.variables(), "ANABRANCH_FEEDBACK": str(world.home / "feedback")}
    (world.home / "dev").mkdir()
    with dev_server(world.home / "dev", **variables) as (url, _):
        async with httpx.AsyncClient(base_url=url, timeout=600) as http:
            await world.live(http)
            described = (await http.get("/openapi.json")).json()["paths"]
            theirs = [(method.upper(), path) for path, methods in described.items() for method in methods]
            assert len(theirs) > 50
            routes = [*routes_of(page_app), *theirs]
            seen = await attacked(world, http, routes, max(attacks // LIVE, len(routes)), generic=True)
            await world.untouched(http)
    assert seen[200] > 0.1 * seen.total(), seen


async def attacked(
    world: World, http: httpx.AsyncClient, routes: Sequence[Route], times: int, *, generic: bool = False
) -> Counter[int]:
    """Make attacks, some at once; return how many were answered with which status."""
    seen: Counter[int] = Counter()
    routes = [*routes, *[("POST", "/runs/wait")] * OFTENER]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with gate:
            method, template = routes[number % len(routes)]
            attack = Attacker(world, Random(SEED * 1_000_000 + number)).attack(method, template, generic=generic)
            seen[await outcome(world, http, attack, number, generic=generic)] += 1

    await asyncio.gather(*(one(number) for number in range(times)))
    return seen


async def outcome(world: World, http: httpx.AsyncClient, attack: Attack, number: int, *, generic: bool) -> int:
    """Send an attack, and see that the reply holds nothing of somebody else's."""
    reply = await sent(http, attack, attack.path)
    leaked = world.foreign(attack.person, f"{reply.text}\n{list(reply.headers.multi_items())}")
    told = f"attack {number}, {reply.status_code}: {attack}"
    assert not leaked or is_admins(world, attack, leaked), f"{leaked} in the reply to {told}"
    if attack.writes and not (attack.person and attack.person.user.roles & {"ingest", "admin"}):
        # LangGraph's server answers a run that failed with 200 and an error; one that was done leaves its totals.
        done = '"totals"' in reply.text if attack.json else reply.status_code < 400
        assert not done, f"somebody without the role wrote by {told}"
    # Of LangGraph's server a stream has begun before it looks whose it is; what it says then was looked at above.
    if attack.foreign and not (generic and "event-stream" in reply.headers.get("content-type", "")):
        assert reply.status_code >= 400 or (generic and is_error(reply)), f"somebody else's was reached by {told}"
        if attack.method == "GET" and not generic:
            await nothing_told(http, attack, reply, number)
    return reply.status_code


def is_error(reply: httpx.Response) -> bool:
    """Tell whether a reply of LangGraph's commands says that nothing was done; its status is 200 all the same."""
    told = reply.json() if "json" in reply.headers.get("content-type", "") else None
    return isinstance(told, dict) and told.get("type") == "error"


async def nothing_told(http: httpx.AsyncClient, attack: Attack, reply: httpx.Response, number: int) -> None:
    """See that an id of somebody else's and one of nobody's get the same reply."""
    path, text = attack.path, reply.text
    for each in attack.foreign:
        nobodys = str(UUID(int=Random(number).getrandbits(128), version=4))
        path, text = path.replace(each, nobodys), text.replace(each, nobodys)
    other = await sent(http, attack, path)
    assert (other.status_code, other.text) == (reply.status_code, text), f"attack {number} tells: {attack}"


async def sent(http: httpx.AsyncClient, attack: Attack, path: str) -> httpx.Response:
    if ENDLESS.fullmatch(path):
        return await overheard(http, attack, path)
    try:
        async with asyncio.timeout(PATIENCE):
            return await http.request(
                attack.method, path, params=attack.params, headers=attack.headers, json=attack.json, files=attack.files
            )
    except TimeoutError:
        pytest.fail(f"no reply in {PATIENCE} seconds: {attack}")


async def overheard(http: httpx.AsyncClient, attack: Attack, path: str) -> httpx.Response:
    """Listen for a while to what has no end: what LangGraph's server says of a thread of one's own."""
    said: list[bytes] = []
    async with http.stream(
        attack.method, path, params=attack.params, headers=attack.headers, json=attack.json
    ) as reply:
        with suppress(TimeoutError):
            async with asyncio.timeout(LISTEN):
                async for piece in reply.aiter_bytes():
                    said.append(piece)
    kind = {"content-type": reply.headers.get("content-type", "")}
    return httpx.Response(reply.status_code, headers=kind, content=b"".join(said))


def is_admins(world: World, attack: Attack, leaked: set[str]) -> bool:
    """Tell whether it is the one thing in which an admin sees what others said: the feedback of their tenant."""
    person = attack.person
    if person is None or "admin" not in person.user.roles or not attack.path.startswith("/feedback.jsonl"):
        return False
    return all(world.is_of_tenant(each, str(person.user.tenant)) for each in leaked)

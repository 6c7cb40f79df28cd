"""Who asks: by what cannot be forged, and refused in words where it cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from fastapi.routing import iter_route_contexts

from anabranch.safety.operator import environment
from anabranch_server.application import create_app
from anabranch_server.requester import refuse_other_names
from anabranch_server.uvicorn_server import GracefulServer


@pytest.fixture
def auth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write the file in ANABRANCH_AUTH."""

    def write(**content: Any) -> None:
        (tmp_path / "auth.yaml").write_text(yaml.safe_dump(content))
        monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))
        environment.cache_clear()

    return write


@pytest.fixture
def app(tmp_path: Path) -> Any:
    return GracefulServer(create_app(str(tmp_path / "data"))).config.loaded_app


async def asked(app: Any, peer: str = "127.0.0.1", **headers: str) -> httpx.Response:
    """Ask for something for which one only has to be known."""
    transport = httpx.ASGITransport(app, client=(peer, 5))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        return await http.get("/assistants/answer", headers=headers)


@pytest.mark.parametrize(
    ("peer", "forwarded", "status"),
    [
        ("127.0.0.1", "10.1.0.1", 401),  # from the server's own machine, which uvicorn believes
        ("10.1.0.1", "127.0.0.1", 200),
        ("10.1.0.1", "", 200),
        ("10.2.0.1", "10.1.0.1", 401),
    ],
)
async def test_a_proxy_is_known_by_the_address_of_its_connection(
    peer: str, forwarded: str, status: int, app: Any, auth: Any
) -> None:
    auth(proxy={"identity": "X-User", "addresses": ["10.1.0.0/16"]})
    told = {"X-User": "alice", **({"X-Forwarded-For": forwarded} if forwarded else {})}
    assert (await asked(app, peer, **told)).status_code == status


async def test_a_proxy_on_the_same_machine_may_say_for_whom_it_asks(app: Any, auth: Any) -> None:
    auth(proxy={"identity": "X-User", "addresses": ["127.0.0.1"]})
    told = {"X-User": "alice", "X-Forwarded-For": "203.0.113.9"}
    assert (await asked(app, **told)).status_code == 200
    assert (await asked(app, "10.1.0.1", **told)).status_code == 401


@pytest.mark.parametrize("headers", [{"Origin": "http://[::1"}, {"Host": "[::1"}, {"Origin": "null"}])
async def test_addresses_that_are_none_are_refused(headers: dict[str, str], app: Any) -> None:
    assert (await asked(app, **headers)).status_code == 403


OWN_NAMES = [
    "127.0.0.1",
    "127.0.0.1:8300",
    "127.8.9.1",
    "localhost",
    "LocalHost:1",
    "[::1]",
    "[::1]:8300",
    "localhost:",
]
OTHER_NAMES = [
    "a@127.0.0.1", "127.0.0.1@a", "127.0.0.1/x", "127.0.0.1#x", "127.0.0.1?x", "127.0.0.1:x", "127.0.0.1:80:80", "",
    "localhost.evil.example", "evil.example", "127.0.0.1.evil.example", "127.0.0.1 evil.example", "::1", "[::1",
    "[::1]x", "[127.0.0.1]@a", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0", "localhost\\@a", "localhost%00",
    "127.0.0.1,a",
]  # fmt: skip
OPEN = ["/", "/page/app.js", "/openapi.json", "/ok", "/info", "/login", "/page/options"]


@pytest.mark.parametrize("path", OPEN)
async def test_every_route_looks_at_the_name_that_it_was_reached_by(path: str, app: Any) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        told = {host: (await http.get(path, headers={"Host": host})).status_code for host in OWN_NAMES + OTHER_NAMES}
    assert {told[host] for host in OTHER_NAMES} == {403}
    assert {told[host] for host in OWN_NAMES} == {200}


async def test_where_people_say_who_they_are_any_name_leads_here(app: Any, auth: Any) -> None:
    auth(proxy={"identity": "X-User", "addresses": ["127.0.0.1"]})
    assert (await asked(app, **{"X-User": "alice", "Host": "anabranch.example.org"})).status_code == 200


async def test_every_route_of_the_server_is_one_of_them(tmp_path: Path) -> None:
    app = create_app(str(tmp_path / "data"))
    for route in iter_route_contexts(app.routes):
        dependencies = [each.dependency for each in getattr(route, "dependencies", [])]
        assert refuse_other_names in dependencies, route

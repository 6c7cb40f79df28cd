"""Every answer says what a browser may do with it, and none is a page that loads something from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from anabranch_server import langgraph_page
from anabranch_server.application import create_app
from anabranch_server.page_policy import HEADERS

ELSEWHERE = re.compile(r"""(?:src|href|action)\s*=\s*["']?\s*(?:https?:)?//""", re.IGNORECASE)


@pytest.fixture(params=["serve", "a LangGraph server"])
def app(request: pytest.FixtureRequest, tmp_path: Path) -> FastAPI:
    return create_app(str(tmp_path / "data")) if request.param == "serve" else langgraph_page.app


def places(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Return each route's method and a path, and paths that there are none of."""
    for route in iter_route_contexts(app.routes):
        for method in sorted(getattr(route, "methods", None) or ()):
            yield method, re.sub(r"\{[^}]*\}", "none", str(getattr(route, "path", "/")))
    yield from (("GET", path) for path in ("/docs", "/redoc", "/docs/oauth2-redirect", "/none", "/page/none"))


async def test_all_routes(app: FastAPI) -> None:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    statuses = set()
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        for method, path in places(app):
            reply = await http.request(method, path)
            statuses.add(reply.status_code)
            said = {name: reply.headers.get(name) for name in HEADERS}
            assert said == HEADERS, (method, path)
            if "html" in reply.headers.get("content-type", ""):
                assert not ELSEWHERE.search(reply.text), path
    assert statuses >= {200, 404, 422}
    assert 500 not in statuses


async def test_what_fails_is_answered_under_it_as_well(tmp_path: Path) -> None:
    app = create_app(str(tmp_path / "data"))  # without its lifespan there is no database
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        reply = await http.get("/threads/none")
    assert reply.status_code == 500
    assert {name: reply.headers.get(name) for name in HEADERS} == HEADERS


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect"])
async def test_no_page_but_our_own(path: str, app: FastAPI) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        assert (await http.get(path)).status_code == 404
        assert "frame-ancestors 'none'" in (await http.get("/")).headers["content-security-policy"]
        described = (await http.get("/openapi.json")).json()
        assert "/uploads" in described["paths"]

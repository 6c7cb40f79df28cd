"""The tools of `mcp_tools` over HTTP: each request says who asks, and none opens a session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from anabranch.errors import MissingExtraError, OperationError
from anabranch_server.identity import User
from anabranch_server.requester import Asker, Requester
from anabranch_server.run_request import RunRequest
from anabranch_server.services import Services

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context as Call

REQUESTER = "anabranch.requester"
"""Where the ASGI scope of a request says who sent it."""


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.mcp = None
    try:
        from mcp.server.transport_security import TransportSecuritySettings

        from anabranch_server.mcp_tools import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        yield
        return
    # On a LangGraph server the graph is run here: a call to its own queue from inside would come from nobody.
    on_serve = isinstance(getattr(app.state, "services", None), Services)
    server = mcp_server(_user_of, _answered if on_serve else None, _begun if on_serve else None)
    # Which names and sites are let in `requester` says, for all routes alike.
    lets_all_in = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=lets_all_in)
    async with server.session_manager.run():
        app.state.mcp = server.session_manager.asgi_app
        yield


router = APIRouter(tags=["mcp"], lifespan=_lifespan)


@router.post("/mcp")
async def call(request: Request, who: Asker) -> Response:
    """Take a message of the Model Context Protocol (streamable HTTP, without sessions).

    Raises:
        MissingExtraError: The server runs without the extra.
    """
    who.require("ask")
    if request.app.state.mcp is None:
        raise MissingExtraError("`/mcp`", "mcp")
    return _Forwarded(request.app.state.mcp, who)


class _Forwarded(Response):
    """The reply of another ASGI application, which is told who asks."""

    def __init__(self, app: ASGIApp, who: Requester) -> None:
        super().__init__()
        self._app = app
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, REQUESTER: self._who}, receive, send)


def _request_of(call: Call) -> tuple[Request, Requester]:
    """Return the HTTP request of a call, and who sent it."""
    request = call.request_context.request
    if not isinstance(request, Request):
        raise TypeError(request)
    return request, request.scope[REQUESTER]


def _user_of(call: Call) -> User | None:
    _, who = _request_of(call)
    return who.user


async def _begun(call: Call) -> None:
    request, who = _request_of(call)
    services: Services = request.app.state.services
    await services.limits.begin(who)


async def _answered(question: str, call: Call) -> Mapping[str, Any]:
    """Answer as a run of this server's queue, so that limits count it and no more run at once than may."""
    request, who = _request_of(call)
    services: Services = request.app.state.services
    run = await services.accept(who, RunRequest(input={"question": question}), None)
    await services.over(run, request)
    left = await services.outcome(run)
    if "error" in left:
        raise OperationError(left["error"]["message"])
    values: Mapping[str, Any] = left["values"]
    return values

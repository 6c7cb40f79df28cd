"""The tools of `mcp_tools` over HTTP, without sessions: each request is authenticated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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
"""Key of the caller in the ASGI scope of a request."""


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
    # On a LangGraph server the graph runs in this process: a call to its queue would lose the caller.
    on_serve = isinstance(getattr(app.state, "services", None), Services)
    server = mcp_server(_user_of, _answer if on_serve else None, _begin if on_serve else None)
    # `requester` checks host names and sites for all routes alike.
    lets_all_in = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=lets_all_in)
    async with server.session_manager.run():
        app.state.mcp = server.session_manager.asgi_app
        yield


router = APIRouter(tags=["mcp"], lifespan=_lifespan)


@router.post("/mcp")
async def call(request: Request, caller: Asker) -> Response:
    """Take a message of the Model Context Protocol (streamable HTTP, without sessions).

    Raises:
        MissingExtraError: The extra `mcp` is not installed.
    """
    caller.require("ask")
    if request.app.state.mcp is None:
        raise MissingExtraError("`/mcp`", "mcp")
    return _Forwarded(request.app.state.mcp, caller)


class _Forwarded(Response):
    """The reply of another ASGI application, which gets the caller."""

    def __init__(self, app: ASGIApp, caller: Requester) -> None:
        super().__init__()
        self._app = app
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, REQUESTER: self._caller}, receive, send)


def _request_of(call: Call) -> tuple[Request, Requester]:
    """Return the HTTP request of a call, and its caller."""
    request = call.request_context.request
    if not isinstance(request, Request):
        raise TypeError(request)
    return request, request.scope[REQUESTER]


def _user_of(call: Call) -> User | None:
    _, caller = _request_of(call)
    return caller.user


async def _begin(call: Call) -> None:
    request, caller = _request_of(call)
    services: Services = request.app.state.services
    await services.limits.begin(caller)


async def _report(services: Services, run_id: str, report: Callable[[Mapping[str, Any]], Awaitable[None]]) -> None:
    async for event in services.events.read(run_id):
        # The search's own steps come under the name of its subgraph.
        if event is not None and event.name.startswith("custom"):
            await report(json.loads(event.data))


async def _answer(question: str, call: Call) -> Mapping[str, Any]:
    """Answer through this server's queue of runs, so that its limits apply; send its steps as they begin."""
    from anabranch_server.mcp_tools import StepProgress

    request, caller = _request_of(call)
    services: Services = request.app.state.services
    asked = RunRequest(input={"question": question}, stream_mode=("custom",), stream_subgraphs=True)
    run, report = await services.accept(caller, asked, None), StepProgress(call)
    reporting = asyncio.create_task(_report(services, run.run_id, report))
    try:
        await services.wait_for_run(run, request)
        await reporting
    finally:
        reporting.cancel()
    outcome = await services.read_outcome(run)
    if "error" in outcome:
        raise OperationError(outcome["error"]["message"])
    values: Mapping[str, Any] = outcome["values"]
    return values

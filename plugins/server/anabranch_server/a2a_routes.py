"""The Agent2Agent protocol: a card that says what this agent does, and one path for its messages.

`a2a_tasks` says what the messages mean. It imports the protocol's package, so it is imported with the first request.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from types import ModuleType

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from anabranch.errors import MissingExtraError
from anabranch_server.identity import needs_identity
from anabranch_server.requester import Asker
from anabranch_server.services import Serving

router = APIRouter(tags=["a2a"])


@router.get("/.well-known/agent-card.json")
async def card(request: Request) -> JSONResponse:
    """Return the agent's card, which is public: what it does, its address, and how to authenticate."""
    tasks = await _tasks()
    place = f"{str(request.base_url).rstrip('/')}/a2a"
    return JSONResponse(tasks.card_at(place, authenticates=needs_identity()))


@router.post("/a2a")
async def call(request: Request, caller: Asker, services: Serving) -> Response:
    """Take a message of the protocol (JSON-RPC)."""
    caller.require("ask")
    tasks = await _tasks()
    request.state.asked = tasks.Asked(caller, services)
    reply: Response = await tasks.dispatcher().handle_requests(request)
    return reply


async def _tasks() -> ModuleType:
    """Import the tasks module in a thread, so that the import does not block other requests.

    Raises:
        MissingExtraError: The protocol's package is not installed.
    """
    try:
        return await asyncio.to_thread(import_module, "anabranch_server.a2a_tasks")
    except ModuleNotFoundError as error:
        raise MissingExtraError("`/a2a`", "a2a") from error

"""The Agent2Agent protocol: a card that says what this agent does, and one path for its messages.

What the messages mean `a2a_tasks` says. Nothing of the protocol's package is imported before somebody speaks it.
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
    """Say what this agent does, where, and what it takes to speak to it; anybody may read that."""
    tasks = await _tasks()
    place = f"{str(request.base_url).rstrip('/')}/a2a"
    return JSONResponse(tasks.card_at(place, authenticates=needs_identity()))


@router.post("/a2a")
async def call(request: Request, who: Asker, of: Serving) -> Response:
    """Take a message of the protocol (JSON-RPC)."""
    who.require("ask")
    tasks = await _tasks()
    request.state.asked = tasks.Asked(who, of)
    reply: Response = await tasks.dispatcher().handle_requests(request)
    return reply


async def _tasks() -> ModuleType:
    """Return the module; in a thread, because the import would hold up all others.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return await asyncio.to_thread(import_module, "anabranch_server.a2a_tasks")
    except ModuleNotFoundError as error:
        raise MissingExtraError("`/a2a`", "a2a") from error

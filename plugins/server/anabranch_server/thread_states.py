"""Reads a thread's state after a run, on this server or on the LangGraph server around it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from fastapi import Request

from anabranch.errors import SettingsError
from anabranch_server.requester import Requester
from anabranch_server.services import NotFoundError, Services
from anabranch_server.thread_routes import find_thread


async def read_turn(request: Request, caller: Requester, thread_id: str, run_id: str) -> dict[str, Any] | None:
    """Return the state that a run left in one of the caller's threads; None where the thread has no such run.

    Raises:
        NotFoundError: The caller has no such thread.
    """
    services = getattr(request.app.state, "services", None)
    if not isinstance(services, Services):
        return await _ask_langgraph_server(caller, thread_id, run_id)
    await find_thread(services, caller, thread_id)
    states = services.answer.aget_state_history(
        {"configurable": {"thread_id": thread_id}}, filter={"run_id": run_id}, limit=1
    )
    return next(iter([dict(each.values) async for each in states]), None)


async def _ask_langgraph_server(caller: Requester, thread_id: str, run_id: str) -> dict[str, Any] | None:
    """Ask the LangGraph server of this process, without a network."""
    from langgraph_sdk import get_client
    from langgraph_sdk.errors import APIStatusError

    if find_spec("langgraph_api") is None:
        msg = "This server keeps no feedback: its runs cannot be read from inside its process."
        raise SettingsError(msg, hint="Use `langgraph dev` or `anabranch serve`.")
    try:
        async with get_client() as client:
            metadata = (await client.threads.get(thread_id)).get("metadata") or {}
            # A call from inside bypasses the server's authentication, so the owner is checked here, as
            # `anabranch.identity.langgraph_auth` writes it.
            own = None if caller.user is None else {"owner": caller.user.identity, "tenant": caller.user.tenant or ""}
            if own is not None and any(metadata.get(name) != value for name, value in own.items()):
                raise NotFoundError("thread", thread_id)
            states = await client.threads.get_history(thread_id, limit=1, metadata={"run_id": run_id})
    except APIStatusError as error:
        raise NotFoundError("thread", thread_id) from error
    values = states[0]["values"] if states else None
    return dict(values) if isinstance(values, dict) else None

"""What a thread held at the end of a run: a thread of this server, or of the LangGraph server that this is within."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from fastapi import Request

from anabranch.errors import SettingsError
from anabranch_server.requester import Requester
from anabranch_server.services import NotFoundError, Services
from anabranch_server.thread_routes import thread_of


async def turn_of(request: Request, who: Requester, thread_id: str, run_id: str) -> dict[str, Any] | None:
    """Return what a run left in a thread of whoever asks; None where there is no such run in it.

    Raises:
        NotFoundError: They have no such thread.
    """
    services = getattr(request.app.state, "services", None)
    if not isinstance(services, Services):
        return await _of_langgraph_server(who, thread_id, run_id)
    await thread_of(services, who, thread_id)
    states = services.answer.aget_state_history(
        {"configurable": {"thread_id": thread_id}}, filter={"run_id": run_id}, limit=1
    )
    return next(iter([dict(each.values) async for each in states]), None)


async def _of_langgraph_server(who: Requester, thread_id: str, run_id: str) -> dict[str, Any] | None:
    """Ask the server in whose process this is, without a network."""
    from langgraph_sdk import get_client
    from langgraph_sdk.errors import APIStatusError

    if find_spec("langgraph_api") is None:
        msg = "This server keeps no feedback: it cannot be asked from inside what a run has answered."
        raise SettingsError(msg, hint="`langgraph dev` and `anabranch serve` can.")
    try:
        async with get_client() as client:
            metadata = (await client.threads.get(thread_id)).get("metadata") or {}
            # A call from inside passes by the server's authentication, so whose thread it is is looked at here, by what
            # `anabranch.identity.langgraph_auth` writes.
            own = None if who.user is None else {"owner": who.user.identity, "tenant": who.user.tenant or ""}
            if own is not None and any(metadata.get(name) != value for name, value in own.items()):
                raise NotFoundError("thread", thread_id)
            states = await client.threads.get_history(thread_id, limit=1, metadata={"run_id": run_id})
    except APIStatusError as error:
        raise NotFoundError("thread", thread_id) from error
    values = states[0]["values"] if states else None
    return dict(values) if isinstance(values, dict) else None

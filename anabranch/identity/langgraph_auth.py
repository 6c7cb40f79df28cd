"""The `auth` of a LangGraph server, named in langgraph.json: it authenticates callers and protects their threads.

What a caller may read is decided in the graph (`anabranch.agent.graph.settings_precedence`). Handlers change `value` in
place, because langgraph-api ignores a new dict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Installed with langgraph.
from langgraph_sdk import Auth

from anabranch.errors import NotAuthenticatedError, OperationError
from anabranch.identity.audit_log import audit, check_audit_log
from anabranch.identity.server_parts import SERVER_PARTS
from anabranch.identity.user import ROLES, User
from anabranch.safety.operator import needs_identity

auth = Auth()

LOCAL = User(identity="local", roles=frozenset(ROLES))
"""The user of a server without ANABRANCH_AUTH."""

if needs_identity():
    # A wrong file, or a missing plugin, stops the server now rather than the first request.
    SERVER_PARTS.get("identity").refuse_limits()
check_audit_log()


@auth.authenticate
async def authenticate(headers: Mapping[Any, Any], scope: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the user who sent a request.

    Args:
        headers: Headers of the request, as bytes or as text, depending on the server.
        scope: The ASGI scope, if the server passes it; it has the caller's address and repeated headers.
    """
    if not needs_identity():
        return LOCAL.as_auth_user()
    pairs: Iterable[tuple[Any, Any]] = headers.items() if scope is None else scope.get("headers") or ()
    client = (scope or {}).get("client") or (None,)
    try:
        user: User = await SERVER_PARTS.get("identity").identity_of(pairs, client[0])
        return user.as_auth_user()
    except NotAuthenticatedError as error:
        raise Auth.exceptions.HTTPException(status_code=401, detail=str(error)) from error
    except OperationError as error:
        raise Auth.exceptions.HTTPException(status_code=503, detail=str(error)) from error


def _user(ctx: Auth.types.AuthContext) -> User:
    """Return the user of a request; refuse Studio's own user, which a server may let in."""
    try:
        return User.from_server(ctx.user)
    except NotAuthenticatedError as error:
        raise Auth.exceptions.HTTPException(status_code=403, detail=str(error)) from error


@auth.on
async def others(ctx: Auth.types.AuthContext, value: Any) -> bool:  # noqa: ANN401, ARG001  # as the server calls it
    """Allow only admins what no handler below covers: changes of assistants, crons, the store."""
    return not needs_identity() or "admin" in _user(ctx).roles


@auth.on(resources="assistants", actions=["read", "search"])
async def assistants(ctx: Auth.types.AuthContext, value: Any) -> bool:  # noqa: ANN401, ARG001  # as the server calls it
    """Let every user list the graphs."""
    return not needs_identity() or bool(_user(ctx).roles)


@auth.on.threads
async def threads(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Mark threads with their owner, and show each user, admins included, only their own."""
    return _set_owner(ctx, value) if needs_identity() else None


@auth.on.threads.delete
async def removal(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Let users remove their own threads, and log it."""
    owner = _set_owner(ctx, value) if needs_identity() else None
    await audit("delete", _user(ctx) if needs_identity() else None, thread_id=str(value.get("thread_id")))
    return owner


@auth.on.threads.create_run
async def runs(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Let users run graphs on their own threads."""
    if not needs_identity():
        return None
    owner = _set_owner(ctx, value)
    # Aegra, which passes no `kwargs`, has already found the thread, and would apply the filter to assistants.
    return owner if "kwargs" in value else None


def _set_owner(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str]:  # noqa: ANN401
    """Write the owner into the metadata, and return the filter that finds it."""
    user = _user(ctx)
    # Two tenants may each have an alice.
    owner = {"owner": user.identity, "tenant": user.tenant or ""}
    if value.get("metadata") is None:
        value["metadata"] = {}
    value["metadata"].update(owner)
    return owner

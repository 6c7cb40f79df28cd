"""The `auth` of a LangGraph server, named in langgraph.json: who may call it, and that threads belong to their owners.

What may be read is decided in the graph (`anabranch.agent.graph.settings_precedence`); that holds whatever the server does.
Handlers change `value` in place: langgraph-api keeps that very dict, and a new one would be lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Comes with langgraph itself.
from langgraph_sdk import Auth

from anabranch.errors import NotAuthenticatedError, OperationError
from anabranch.identity.audit_log import audit, check_audit_log
from anabranch.identity.server_parts import SERVER_PARTS
from anabranch.identity.user import ROLES, User
from anabranch.safety.operator import needs_identity

auth = Auth()

LOCAL = User(identity="local", roles=frozenset(ROLES))
"""Whoever uses a server without ANABRANCH_AUTH: the one person whose machine it is."""

if needs_identity():
    # A wrong file, or no plugin that reads it, stops the server now, and not the first request.
    SERVER_PARTS.get("identity").refuse_limits()
check_audit_log()


@auth.authenticate
async def authenticate(headers: Mapping[Any, Any], scope: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return who sent a request.

    Args:
        headers: Of the request; as bytes from one server, and as text from another.
        scope: ASGI's, with the caller's address and with headers that came twice, where the server gives it.
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
    """Return the user of a request; Studio's own, which a server may let in by itself, is none."""
    try:
        return User.from_server(ctx.user)
    except NotAuthenticatedError as error:
        raise Auth.exceptions.HTTPException(status_code=403, detail=str(error)) from error


@auth.on
async def others(ctx: Auth.types.AuthContext, value: Any) -> bool:  # noqa: ANN401, ARG001  # as the server calls it
    """Leave to admins what no handler below is for: assistants' changes, crons, the store."""
    return not needs_identity() or "admin" in _user(ctx).roles


@auth.on(resources="assistants", actions=["read", "search"])
async def assistants(ctx: Auth.types.AuthContext, value: Any) -> bool:  # noqa: ANN401, ARG001  # as the server calls it
    """Let everybody see which graphs there are."""
    return not needs_identity() or bool(_user(ctx).roles)


@auth.on.threads
async def threads(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Mark threads with their owner, and show each person only their own; an admin as well."""
    return _owned(ctx, value) if needs_identity() else None


@auth.on.threads.delete
async def removal(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Let people remove threads of their own, and put it into the audit log."""
    owner = _owned(ctx, value) if needs_identity() else None
    await audit("delete", _user(ctx) if needs_identity() else None, thread_id=str(value.get("thread_id")))
    return owner


@auth.on.threads.create_run
async def runs(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Let people run graphs on threads of their own."""
    if not needs_identity():
        return None
    owner = _owned(ctx, value)
    # Aegra, which has no `kwargs` here, has looked for the thread already, and takes a filter for one of assistants.
    return owner if "kwargs" in value else None


def _owned(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str]:  # noqa: ANN401
    """Write the owner into the metadata, and return the filter that finds it."""
    user = _user(ctx)
    # Two tenants may each have an alice.
    owner = {"owner": user.identity, "tenant": user.tenant or ""}
    if value.get("metadata") is None:
        value["metadata"] = {}
    value["metadata"].update(owner)
    return owner

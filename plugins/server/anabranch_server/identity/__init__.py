"""Authenticates people by API key, token or proxy, as the file in ANABRANCH_AUTH says.

::

    user = await identity_of(request.headers.raw, request.client.host)  # or NotAuthenticatedError
    await graph.ainvoke({"question": "..."}, {"configurable": {AUTH_USER: user}})

`load_authenticators` reads the file; a server calls it when it starts, so that a wrong file keeps it from starting.
"""

from __future__ import annotations

from anabranch.identity.user import AUTH_USER, User
from anabranch.safety.operator import as_operator, needs_identity
from anabranch_server.identity.authenticators import identity_of, limits_of, load_authenticators, refuse_limits

__all__ = [
    "AUTH_USER",
    "User",
    "as_operator",
    "identity_of",
    "limits_of",
    "load_authenticators",
    "needs_identity",
    "refuse_limits",
]

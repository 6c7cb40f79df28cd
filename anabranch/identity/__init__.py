"""The user of a run, and the audit log.

The plugin `server` authenticates requests; its functions can be imported from here::

    user = await identity_of(request.headers.raw, request.client.host)  # or NotAuthenticatedError
    await graph.ainvoke({"question": "..."}, {"configurable": {AUTH_USER: user}})
"""

from __future__ import annotations

from typing import Any

from anabranch.identity.user import AUTH_USER, User
from anabranch.safety.operator import as_operator, needs_identity

__all__ = ["AUTH_USER", "User", "as_operator", "needs_identity"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # a function of the plugin
    if name not in {"identity_of", "limits_of", "load_authenticators", "refuse_limits"}:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from anabranch.identity.server_parts import SERVER_PARTS

    return getattr(SERVER_PARTS.get("identity"), name)

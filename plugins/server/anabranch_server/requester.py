"""Identifies the person who sent a request, and refuses requests from other sites and host names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from anabranch.errors import NotAllowedError
from anabranch.identity.user import LOCAL, UserRole
from anabranch_server.identity import AUTH_USER, User, identity_of, needs_identity

# RFC 3986, section 3.2, without user names and escapes, which no browser sends.
_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9.-]+))(?::[0-9]{0,5})?")

PEER = "anabranch.peer"
"""Where the ASGI scope of a request says which machine is at the other end of the connection."""


class KeepPeer:
    """Keeps the address of the connection before another layer replaces it with that in `X-Forwarded-For`."""

    def __init__(self, app: ASGIApp) -> None:
        """Take the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on."""
        await self._app({**scope, PEER: scope.get("client")}, receive, send)


@dataclass(frozen=True, slots=True)
class Requester:
    """Who sent a request; `user` is None where the operator authenticates nobody."""

    user: User | None

    @property
    def owner(self) -> str:
        """The name that threads and runs are kept under."""
        return LOCAL if self.user is None else self.user.owner

    def as_configurable(self) -> dict[str, Any]:
        """Return the user in the form of LangGraph's `configurable`."""
        return {} if self.user is None else {AUTH_USER: self.user}

    def require(self, role: UserRole) -> None:
        """Require a role, unless the server authenticates nobody.

        Raises:
            NotAllowedError: The user lacks the role.
        """
        if self.user is not None:
            self.user.require(role)


async def requester(request: Request) -> Requester:
    """Return who sent a request.

    Raises:
        NotAuthenticatedError: The operator's file does not know the sender.
        NotAllowedError: A page of another site had a browser send it.
    """
    refuse_other_sites(request)
    if not needs_identity():
        return Requester(None)
    client = request.scope.get(PEER, request.scope.get("client"))
    return Requester(await identity_of(request.headers.raw, client[0] if client else None))


async def refuse_other_names(request: Request) -> None:
    """Refuse requests to a host name other than this machine's own, where nobody has to authenticate.

    After DNS rebinding a foreign page counts as the same site. So applications check this before every route, public
    ones included.

    Raises:
        NotAllowedError: The request was sent to another name.
    """
    if needs_identity():
        return
    named = _HOST.fullmatch(request.headers.get("host", ""))
    if named is None or not is_own_name((named["v6"] or named["name"]).lower()):
        msg = "This server answers only requests to 127.0.0.1 or localhost."
        raise NotAllowedError(msg, hint="Use one of these addresses. To serve others, set ANABRANCH_AUTH.")


def is_own_name(host: str) -> bool:
    """Tell whether a name or an address is that of this machine to itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_other_sites(request: Request) -> None:
    """Refuse requests that another site's page has a browser send: without authentication nothing else stops them."""
    origin = request.headers.get("origin")
    if origin is not None and (_split(origin).netloc or None) != request.headers.get("host"):
        raise NotAllowedError("This request was sent by a page of another site.", hint="Use the page of this server.")


def _split(address: str) -> SplitResult:
    """Return the parts of an address; all are empty where it is invalid."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


Asker = Annotated[Requester, Depends(requester)]

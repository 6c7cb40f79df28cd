"""Who asks: the person of a request, and whether the request comes from where it says."""

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

# RFC 3986, section 3.2, without what no browser sends: a user, and the many ways to write a name.
_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9.-]+))(?::[0-9]{0,5})?")

PEER = "anabranch.peer"
"""Where the ASGI scope of a request says which machine is at the other end of the connection."""


class KeepPeer:
    """Goes around whatever puts the address in `X-Forwarded-For` in place of the connection's own."""

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
        """Return what LangGraph is told of who asks."""
        return {} if self.user is None else {AUTH_USER: self.user}

    def require(self, role: UserRole) -> None:
        """Let through whoever has a role, and everybody where nobody is authenticated.

        Raises:
            NotAllowedError: They have not.
        """
        if self.user is not None:
            self.user.require(role)


async def requester(request: Request) -> Requester:
    """Return who sent a request.

    Raises:
        NotAuthenticatedError: Nobody whom the operator's file knows.
        NotAllowedError: A page of another site had a browser send it.
    """
    refuse_other_sites(request)
    if not needs_identity():
        return Requester(None)
    client = request.scope.get(PEER, request.scope.get("client"))
    return Requester(await identity_of(request.headers.raw, client[0] if client else None))


async def refuse_other_names(request: Request) -> None:
    """Refuse what was sent to another name than this machine's own, where nobody has to say who they are.

    A page whose name is made to lead here (DNS rebinding) is of the same site as what it asks for. So applications ask
    this before every route, also before those that anybody may read.

    Raises:
        NotAllowedError: It was.
    """
    if needs_identity():
        return
    named = _HOST.fullmatch(request.headers.get("host", ""))
    if named is None or not is_own_name((named["v6"] or named["name"]).lower()):
        msg = "This server is for whoever uses this machine, and was reached by another name."
        raise NotAllowedError(msg, hint="Use http://127.0.0.1 or http://localhost; for others, set ANABRANCH_AUTH.")


def is_own_name(host: str) -> bool:
    """Tell whether a name or an address is that of this machine to itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_other_sites(request: Request) -> None:
    """Refuse what another site's page has a browser send here: on one's own machine nothing else keeps it out."""
    origin = request.headers.get("origin")
    if origin is not None and (_split(origin).netloc or None) != request.headers.get("host"):
        raise NotAllowedError("This request was sent by a page of another site.", hint="Use the page of this server.")


def _split(address: str) -> SplitResult:
    """Return the parts of an address; of one that is none, empty ones."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


Asker = Annotated[Requester, Depends(requester)]

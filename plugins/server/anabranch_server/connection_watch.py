"""Ends connections that never finish a request, or never read the answer, so that they keep nobody else out.

uvicorn waits for both for ever. Where too many connections are open, the one that has been waited for the longest makes
room, and where none is waited for, a request is refused. What is worked on, and a stream that is read, is left alone.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import cast

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from anabranch_server.page_policy import HEADERS

PATIENCE = 20.0
"""Seconds for the head of a request, for a pause in its body, and for an answer of which nothing is read."""

RATE = 4_000
"""Bytes of a body that have to come in a second, on average: a slow telephone's."""

MOST = 4_000
"""Connections of one process, where it may open many files."""

CONNECTION = "anabranch.connection"
"""Where the ASGI state of a request has its connection."""

Inner = Callable[..., asyncio.Protocol]


class Stage(IntEnum):
    """What a connection is at; those that cost others least to lose come first."""

    HEAD = 0
    BODY = 1
    ANSWER = 2


class ConnectionWatch:
    """The connections of one server."""

    def __init__(self, most: int | None = None, patience: float = PATIENCE) -> None:
        """Have none yet.

        Args:
            most: Connections that may be open; None for what this process has room for.
            patience: Seconds that each may keep it waiting.
        """
        self.most = most_connections() if most is None else most
        self.patience = patience
        self._open: set[WatchedConnection] = set()

    def protocol(self, inner: Inner) -> Callable[..., WatchedConnection]:
        """Return what makes a protocol around uvicorn's, as uvicorn calls it."""

        def made(**given: object) -> WatchedConnection:
            return WatchedConnection(self, inner, **given)

        return made

    def add(self, connection: WatchedConnection) -> None:
        """Let one in; where there are too many, the one goes that has been waited for the longest."""
        if len(self._open) >= self.most:
            waited_for = [each for each in self._open if each.stage is not Stage.ANSWER]
            if waited_for:
                self.end(min(waited_for, key=lambda each: (each.stage, each.since)))
        self._open.add(connection)

    @property
    def is_full(self) -> bool:
        """Whether there are more than there is room for, because all others are being answered."""
        return len(self._open) > self.most

    def remove(self, connection: WatchedConnection) -> None:
        """Forget one."""
        self._open.discard(connection)

    def end(self, connection: WatchedConnection) -> None:
        """End one at once."""
        self.remove(connection)
        connection.transport.abort()

    def sweep(self) -> None:
        """End those that have kept the server waiting for too long; to be called about every second."""
        now = time.monotonic()
        for each in [each for each in self._open if each.is_stalled(now)]:
            self.end(each)


class WatchedConnection(asyncio.Protocol):
    """Goes around the protocol of one connection.

    Attributes:
        stage: What it is at.
        since: Since when, by `time.monotonic`.
        transport: Its transport.
        watch: All of them.
    """

    transport: asyncio.Transport

    def __init__(self, watch: ConnectionWatch, inner: Inner, *, app_state: object = None, **given: object) -> None:
        """Make the protocol itself; by the state that it hands to each request, the application finds this one."""
        state = cast("dict[str, object]", app_state or {})
        self._inner = inner(app_state={**state, CONNECTION: self}, **given)
        self.watch = watch
        self.stage, self.since = Stage.HEAD, time.monotonic()
        self._unread, self._was_read = 0, self.since

    def enter(self, stage: Stage) -> None:
        """Note what it is at from now on."""
        self.stage, self.since = stage, time.monotonic()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Note that more of a request's body is waited for."""
        self.stage = Stage.BODY
        try:
            yield
        finally:
            self.stage = Stage.ANSWER

    def is_stalled(self, now: float) -> bool:
        """Tell whether no request comes, or nothing of an answer was read since this was asked last, for too long."""
        unread = self.transport.get_write_buffer_size()
        if not unread or unread < self._unread:
            self._was_read = now
        self._unread = unread
        if unread:
            return now - self._was_read > self.watch.patience
        # Of a body that does not come the application is told (`WatchedRequests`).
        return self.stage is Stage.HEAD and now - self.since > self.watch.patience

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in."""
        self.transport = cast("asyncio.Transport", transport)
        self.watch.add(self)
        self._inner.connection_made(transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.watch.remove(self)
        self._inner.connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        """Hand on."""
        self._inner.data_received(data)

    @override
    def eof_received(self) -> bool | None:
        """Hand on."""
        return self._inner.eof_received()

    @override
    def pause_writing(self) -> None:
        """Hand on."""
        self._inner.pause_writing()

    @override
    def resume_writing(self) -> None:
        """Hand on."""
        self._inner.resume_writing()


class WatchedRequests:
    """Goes around an application: 503 where there is no room, and 408 to a request whose body does not come."""

    def __init__(self, app: ASGIApp) -> None:
        """Take the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and tell the connection what it is at."""
        connection: WatchedConnection | None = scope.get("state", {}).get(CONNECTION)
        if scope["type"] != "http" or connection is None:
            await self._app(scope, receive, send)
            return
        if connection.watch.is_full:
            headers = {**HEADERS, "Retry-After": "1", "Connection": "close"}
            await JSONResponse({"detail": "The server has too many connections."}, 503, headers)(scope, receive, send)
            return
        connection.enter(Stage.ANSWER)
        try:
            await self._app(scope, _timed(connection, receive), send)
        finally:
            connection.enter(Stage.HEAD)


def _timed(connection: WatchedConnection, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """Return what receives a request under a bound on the time that it is waited for, but not on that of its answer."""
    patience = connection.watch.patience
    left, is_whole = patience, False

    async def receiving() -> Message:
        nonlocal left, is_whole
        if is_whole:  # from now on it is only asked whether somebody still listens
            return await receive()
        began = time.monotonic()
        try:
            with connection.waiting():
                async with asyncio.timeout(left):
                    message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The body of the request did not come.", {"Connection": "close"}) from None
        is_whole = not message.get("more_body", False)
        left += len(message.get("body", b"")) / RATE - (time.monotonic() - began)
        left = min(left, patience)
        return message

    return receiving


def most_connections() -> int:
    """Return how many connections this process has room for: half of the files that it may open."""
    if sys.platform == "win32":
        return MOST
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)

"""Ends connections that never finish a request, or never read the answer, so that they do not lock others out.

uvicorn waits for both for ever. Where too many connections are open, the one that has stalled longest is closed; if
none has, the new request is refused. A request in progress, or a stream that is being read, is left alone.
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
"""Seconds to wait for the head of a request, during a pause in its body, and while its answer is not read."""

RATE = 4_000
"""Bytes of a body per second that a client has to send on average: the rate of a slow phone."""

MOST = 4_000
"""Most connections of one process."""

CONNECTION = "anabranch.connection"
"""Key of the connection in the ASGI state of a request."""

Inner = Callable[..., asyncio.Protocol]


class Stage(IntEnum):
    """What a connection is doing; those that are cheapest to close come first."""

    HEAD = 0
    BODY = 1
    ANSWER = 2


class ConnectionWatch:
    """The connections of one server."""

    def __init__(self, most: int | None = None, patience: float = PATIENCE) -> None:
        """Start without connections.

        Args:
            most: Most open connections; None derives it from the process's limits.
            patience: Seconds after which a stalled connection is closed.
        """
        self.most = most_connections() if most is None else most
        self.patience = patience
        self._open: set[WatchedConnection] = set()

    def protocol(self, inner: Inner) -> Callable[..., WatchedConnection]:
        """Return a factory of protocols that wrap uvicorn's own."""

        def make(**given: object) -> WatchedConnection:
            return WatchedConnection(self, inner, **given)

        return make

    def add(self, connection: WatchedConnection) -> None:
        """Add a connection; where there are too many, close the one that has stalled longest."""
        if len(self._open) >= self.most:
            waited_for = [each for each in self._open if each.stage is not Stage.ANSWER]
            if waited_for:
                self.end(min(waited_for, key=lambda each: (each.stage, each.since)))
        self._open.add(connection)

    @property
    def is_full(self) -> bool:
        """Whether there are too many connections, and all of them are being answered."""
        return len(self._open) > self.most

    def remove(self, connection: WatchedConnection) -> None:
        """Forget a connection."""
        self._open.discard(connection)

    def end(self, connection: WatchedConnection) -> None:
        """Close a connection at once."""
        self.remove(connection)
        connection.transport.abort()

    def sweep(self) -> None:
        """Close stalled connections; to be called about every second."""
        now = time.monotonic()
        for each in [each for each in self._open if each.is_stalled(now)]:
            self.end(each)


class WatchedConnection(asyncio.Protocol):
    """Wraps the protocol of one connection.

    Attributes:
        stage: What it is doing.
        since: When the stage began, by `time.monotonic`.
        transport: Its transport.
        watch: The watch that it belongs to.
    """

    transport: asyncio.Transport

    def __init__(self, watch: ConnectionWatch, inner: Inner, *, app_state: object = None, **given: object) -> None:
        """Make the inner protocol; the application finds this connection in the state of each request."""
        state = cast("dict[str, object]", app_state or {})
        self._inner = inner(app_state={**state, CONNECTION: self}, **given)
        self.watch = watch
        self.stage, self.since = Stage.HEAD, time.monotonic()
        self._unread, self._was_read = 0, self.since

    def enter(self, stage: Stage) -> None:
        """Begin a stage."""
        self.stage, self.since = stage, time.monotonic()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Mark the block in which the server waits for more of a request's body."""
        self.stage = Stage.BODY
        try:
            yield
        finally:
            self.stage = Stage.ANSWER

    def is_stalled(self, now: float) -> bool:
        """Tell whether for too long no request came, or nothing of an answer was read."""
        unread = self.transport.get_write_buffer_size()
        if not unread or unread < self._unread:
            self._was_read = now
        self._unread = unread
        if unread:
            return now - self._was_read > self.watch.patience
        # `WatchedRequests` handles a body that does not arrive.
        return self.stage is Stage.HEAD and now - self.since > self.watch.patience

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Add the connection to the watch."""
        self.transport = cast("asyncio.Transport", transport)
        self.watch.add(self)
        self._inner.connection_made(transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the watch."""
        self.watch.remove(self)
        self._inner.connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        """Pass on to the inner protocol."""
        self._inner.data_received(data)

    @override
    def eof_received(self) -> bool | None:
        """Pass on to the inner protocol."""
        return self._inner.eof_received()

    @override
    def pause_writing(self) -> None:
        """Pass on to the inner protocol."""
        self._inner.pause_writing()

    @override
    def resume_writing(self) -> None:
        """Pass on to the inner protocol."""
        self._inner.resume_writing()


class WatchedRequests:
    """Wraps an application: 503 where there are too many connections, 408 where a body does not arrive."""

    def __init__(self, app: ASGIApp) -> None:
        """Take the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and set the stage of the connection."""
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
            await self._app(scope, _with_timeout(connection, receive), send)
        finally:
            connection.enter(Stage.HEAD)


def _with_timeout(connection: WatchedConnection, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """Return a `receive` with a time limit on the request's body, but not on its answer."""
    patience = connection.watch.patience
    left, is_whole = patience, False

    async def receive_timed() -> Message:
        nonlocal left, is_whole
        if is_whole:  # further calls only wait for a disconnect
            return await receive()
        began = time.monotonic()
        try:
            with connection.waiting():
                async with asyncio.timeout(left):
                    message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The request's body did not arrive in time.", {"Connection": "close"}) from None
        is_whole = not message.get("more_body", False)
        left += len(message.get("body", b"")) / RATE - (time.monotonic() - began)
        left = min(left, patience)
        return message

    return receive_timed


def most_connections() -> int:
    """Return how many connections this process may have: half of the files that it may open."""
    if sys.platform == "win32":
        return MOST
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)

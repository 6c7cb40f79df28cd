"""uvicorn around the application: requests come with their connection's address, and a stop takes one time, not two."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

import uvicorn
from fastapi import FastAPI
from typing_extensions import override

from anabranch_server.connection_watch import ConnectionWatch, WatchedRequests
from anabranch_server.requester import KeepPeer
from anabranch_server.services import GRACE, Services

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LEAVING = 5
"""Seconds that readers have to leave after what runs had its time to end."""

BACKLOG = 256
"""Connections that may come at once."""


class GracefulServer(uvicorn.Server):
    """A server that lets what runs end while those who read it are still connected."""

    def __init__(
        self,
        app: FastAPI,
        grace: float = GRACE,
        *,
        ahead: Callable[[], Awaitable[None]] | None = None,
        watch: ConnectionWatch | None = None,
    ) -> None:
        """Take the application.

        Args:
            app: With its `Services` in `state`, once it has started.
            grace: Seconds that what runs has to end.
            ahead: What is done beside the first requests, such as loading.
            watch: Ends connections that keep the server waiting; None for one with the usual bounds.
        """
        self._watch = watch or ConnectionWatch()
        # Its own lines of access would show whole addresses; ours name the pattern of the path.
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=int(grace) + LEAVING,
            # Also those that are let in before one of the others is ended for them.
            backlog=BACKLOG,
            # A connection that became something else would be out of sight.
            ws="none",
        )
        config.load()
        # Two packages write down what an ASGI application is, each in its own words.
        config.loaded_app = WatchedRequests(KeepPeer(cast("ASGIApp", config.loaded_app)))
        config.http_protocol_class = cast("type[asyncio.Protocol]", self._watch.protocol(config.http_protocol_class))
        super().__init__(config)
        self._app = app
        self._grace = grace
        self._ahead = ahead
        self._doing: asyncio.Future[None] | None = None

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start."""
        await super().startup(sockets)
        if self._ahead is not None and not self.should_exit:
            self._doing = asyncio.ensure_future(self._ahead())

    @override
    async def on_tick(self, counter: int) -> bool:
        """Look after the connections; comes ten times in a second."""
        if counter % 10 == 0:
            self._watch.sweep()
        return await super().on_tick(counter)

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        services: Services = self._app.state.services
        stopping = asyncio.create_task(services.worker.stop(self._grace))
        await super().shutdown(sockets)
        # Not done only where somebody presses Ctrl-C again.
        stopping.cancel()
        if self._doing is not None:
            self._doing.cancel()

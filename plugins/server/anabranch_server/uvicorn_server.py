"""uvicorn around the application: keeps the address of connections, and stops runs and readers in one grace period."""

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
"""Seconds that readers have to disconnect after the runs' grace period."""

BACKLOG = 256
"""Most connections that wait to be accepted."""


class GracefulServer(uvicorn.Server):
    """A server that lets runs end while their readers are still connected."""

    def __init__(
        self,
        app: FastAPI,
        grace: float = GRACE,
        *,
        on_start: Callable[[], Awaitable[None]] | None = None,
        watch: ConnectionWatch | None = None,
    ) -> None:
        """Take the application.

        Args:
            app: With its `Services` in `state`, once it has started.
            grace: Seconds that runs have to end.
            on_start: Runs beside the first requests, such as loading.
            watch: Closes stalled connections; None for the default one.
        """
        self._watch = watch or ConnectionWatch()
        # uvicorn's access log would show whole paths; ours shows patterns.
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=int(grace) + LEAVING,
            # Includes those that are accepted before a stalled one is closed for them.
            backlog=BACKLOG,
            # An upgraded connection would escape the watch.
            ws="none",
        )
        config.load()
        # uvicorn and Starlette each declare their own type of an ASGI application.
        config.loaded_app = WatchedRequests(KeepPeer(cast("ASGIApp", config.loaded_app)))
        config.http_protocol_class = cast("type[asyncio.Protocol]", self._watch.protocol(config.http_protocol_class))
        super().__init__(config)
        self._app = app
        self._grace = grace
        self._on_start = on_start
        self._doing: asyncio.Future[None] | None = None

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start."""
        await super().startup(sockets)
        if self._on_start is not None and not self.should_exit:
            self._doing = asyncio.ensure_future(self._on_start())

    @override
    async def on_tick(self, counter: int) -> bool:
        """Close stalled connections once a second; uvicorn calls this ten times a second."""
        if counter % 10 == 0:
            self._watch.sweep()
        return await super().on_tick(counter)

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        services: Services = self._app.state.services
        stopping = asyncio.create_task(services.worker.stop(self._grace))
        await super().shutdown(sockets)
        # It is unfinished only after a second Ctrl-C.
        stopping.cancel()
        if self._doing is not None:
            self._doing.cancel()

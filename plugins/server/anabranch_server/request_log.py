"""Each request gets an id, which it may bring and is sent back, and a line in the log.

A request is named by the pattern of its path and not by the path: what stands in an address can be a name, or words.
"""

from __future__ import annotations

import logging
import re
import time
from uuid import uuid4

from fastapi.telemetry import TelemetryConfig
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anabranch_server.log_lines import log_ids, set_log_ids

log = logging.getLogger("anabranch.server.requests")

# FastAPI makes the spans and metrics of requests itself. Its records of errors would hold their messages and what was
# sent; its spans of the single parts of a request say nothing that the steps' own do not.
TELEMETRY = TelemetryConfig(auto_configure=True, logs=False, operation_spans=False)

# Within a server of somebody else, which has set up where spans go: set up twice, each would be sent twice.
GUEST_TELEMETRY = TelemetryConfig(auto_configure=False, logs=False, operation_spans=False)

HEADER = "X-Request-ID"
_USABLE = re.compile(r"[A-Za-z0-9._:-]{1,64}")

QUIET = frozenset({"/ok", "/ready", "/metrics"})
"""What is asked every few seconds by whatever watches the server, and logged only where it fails."""


class RequestLog:
    """Goes around an application."""

    def __init__(self, app: ASGIApp) -> None:
        """Take the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and tell how long it took."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began = 500, time.perf_counter()
        set_log_ids(request_id=_given(Headers(scope=scope)) or uuid4().hex)

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id()
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            route = getattr(scope.get("route"), "path", None)
            if route not in QUIET or status >= 400:
                extra = {"method": scope["method"], "route": route, "status": status}
                log.info("request", extra={**extra, "seconds": round(time.perf_counter() - began, 4)})


def request_id() -> str:
    """Return the id of the request that is being answered."""
    return log_ids().get("request_id", "")


def _given(headers: Headers) -> str | None:
    """Return the id that a request brings; None for one that is too long, or is none, which no log should repeat."""
    given = headers.get(HEADER, "")
    return given if _USABLE.fullmatch(given) else None

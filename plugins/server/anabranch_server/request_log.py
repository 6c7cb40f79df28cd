"""Gives each request an id, unless it brings one, and a line in the log.

The line names the pattern of the path, because the path itself may hold names or words of people.
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

# FastAPI records the spans and metrics of requests. Its log records would hold error messages and request bodies; its
# spans of operations would only repeat those of the steps.
TELEMETRY = TelemetryConfig(auto_configure=True, logs=False, operation_spans=False)

# A LangGraph server has set up its own exporters: a second setup would send each span twice.
GUEST_TELEMETRY = TelemetryConfig(auto_configure=False, logs=False, operation_spans=False)

HEADER = "X-Request-ID"
_USABLE = re.compile(r"[A-Za-z0-9._:-]{1,64}")

QUIET = frozenset({"/ok", "/ready", "/metrics"})
"""Paths that a supervisor polls; they are logged only when they fail."""


class RequestLog:
    """Wraps an application."""

    def __init__(self, app: ASGIApp) -> None:
        """Take the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and log how long it took."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began = 500, time.perf_counter()
        set_log_ids(request_id=_usable_id(Headers(scope=scope)) or uuid4().hex)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id()
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            route = getattr(scope.get("route"), "path", None)
            if route not in QUIET or status >= 400:
                extra = {"method": scope["method"], "route": route, "status": status}
                log.info("request", extra={**extra, "seconds": round(time.perf_counter() - began, 4)})


def request_id() -> str:
    """Return the id of the current request."""
    return log_ids().get("request_id", "")


def _usable_id(headers: Headers) -> str | None:
    """Return the id that a request brings; None if it is missing or unsafe to log."""
    given = headers.get(HEADER, "")
    return given if _USABLE.fullmatch(given) else None

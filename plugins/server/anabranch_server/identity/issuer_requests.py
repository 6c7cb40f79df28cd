"""Requests to a token issuer; the size of replies is limited."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

MAX_BYTES = 1_000_000
TIMEOUT = 10.0


async def fetch(method: str, address: str, form: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """Return the status and the body of a reply.

    Args:
        method: The HTTP method.
        address: The URL.
        form: Fields of a form to send.

    Raises:
        httpx.HTTPError: There is no reply.
        ValueError: The reply is too large.
    """
    content = b""
    async with (
        httpx.AsyncClient(timeout=TIMEOUT) as client,
        client.stream(method, address, data=dict(form) if form else None) as reply,
    ):
        async for part in reply.aiter_bytes():
            content += part
            if len(content) > MAX_BYTES:
                raise ValueError("the reply has more than a megabyte")
        return reply.status_code, content

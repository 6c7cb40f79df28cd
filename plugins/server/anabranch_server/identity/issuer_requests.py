"""Requests to an issuer of tokens, whose replies are bounded: an issuer is trusted to name people, not with memory."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

MAX_BYTES = 1_000_000
TIMEOUT = 10.0


async def fetched(method: str, address: str, form: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """Return the status and the body of a reply.

    Args:
        method: Of HTTP.
        address: Where to.
        form: What is sent, as a form.

    Raises:
        httpx.HTTPError: There is none.
        ValueError: It is too large.
    """
    content = b""
    async with (
        httpx.AsyncClient(timeout=TIMEOUT) as client,
        client.stream(method, address, data=dict(form) if form else None) as reply,
    ):
        async for part in reply.aiter_bytes():
            content += part
            if len(content) > MAX_BYTES:
                raise ValueError("more than a megabyte")
        return reply.status_code, content

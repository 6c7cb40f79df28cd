"""Limits the size of a thread's state, because each checkpoint holds a copy."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from anabranch.errors import ThreadStateError
from anabranch_server.json_values import as_json

MAX_STATE = 4 << 20
"""Most characters as JSON: a hundred times the state of a long conversation."""


async def refuse_large(values: Mapping[str, Any], added: Mapping[str, Any] | None = None) -> None:
    """Refuse to make a thread's state too large.

    Args:
        values: Its present state.
        added: Values to be written.

    Raises:
        ThreadStateError: The state would be too large.
    """
    # In a thread, because writing this much JSON takes tens of milliseconds.
    size = await asyncio.to_thread(lambda: sum(len(as_json(each)) for each in (values, added or {})))
    if size > MAX_STATE:
        msg = f"A thread holds at most {MAX_STATE >> 20} MB, and this one would hold {size / (1 << 20):.1f} MB."
        raise ThreadStateError(msg, hint="Start a new thread.")

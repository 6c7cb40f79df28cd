"""How large a thread's state may be: each of its checkpoints holds all of it again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from anabranch.errors import ThreadStateError
from anabranch_server.json_values import as_json

MAX_STATE = 4 << 20
"""Characters of it as JSON: a hundred times what a long conversation makes of it."""


async def refuse_large(values: Mapping[str, Any], added: Mapping[str, Any] | None = None) -> None:
    """Refuse to write into a thread that holds much already.

    Args:
        values: What it holds.
        added: What is going to be written.

    Raises:
        ThreadStateError: It would be too much.
    """
    # In a thread: to write this much as JSON takes tens of milliseconds.
    size = await asyncio.to_thread(lambda: sum(len(as_json(each)) for each in (values, added or {})))
    if size > MAX_STATE:
        msg = f"A thread holds at most {MAX_STATE >> 20} MB, and this one would hold {size / (1 << 20):.1f} MB."
        raise ThreadStateError(msg, hint="Start a new thread.")

"""Makes the async nodes usable from synchronous callers.

LangGraph refuses `invoke` on an async node. For `invoke`, nodes run on one background event loop that lives as long as
the process, so that connection pools and locks stay on one loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="anabranch-sync", daemon=True).start()
    return loop


def wait_for(coroutine: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """Run a coroutine on the background loop, in the caller's context variables, and wait for it.

    If the caller stops waiting, as after Ctrl-C, the coroutine is cancelled.
    """

    async def work() -> dict[str, Any] | BaseException:
        try:
            return await coroutine
        except (KeyboardInterrupt, SystemExit) as error:  # raised in a task, it would end the loop
            return error

    done = asyncio.run_coroutine_threadsafe(work(), _background_loop())
    try:
        result = done.result()
    except BaseException:
        done.cancel()
        raise
    if isinstance(result, BaseException):
        raise result
    return result

"""The process that draws pages: whoever waits for a slow page keeps nobody else from being served."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from anabranch_server.page_process import PageProcess


async def test_orders_that_wait_hold_no_thread_that_others_need(monkeypatch: pytest.MonkeyPatch) -> None:
    process, go, drawn = PageProcess(), threading.Event(), []

    def slowly(order: Any) -> tuple[dict[str, Any], bytes]:
        go.wait(30)
        drawn.append(order)
        return {}, b""

    monkeypatch.setattr(process, "_carry_out", slowly)
    orders = [asyncio.create_task(process.order({"page": number})) for number in range(40)]
    await asyncio.sleep(0.1)
    try:
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(int, "1") == 1
    finally:
        go.set()
    await asyncio.gather(*orders)
    assert len(drawn) == 40

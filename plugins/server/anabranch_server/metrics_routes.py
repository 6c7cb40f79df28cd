"""The server's metrics for Prometheus; labels name steps, graphs, models and paths, never people."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import Response

from anabranch_server.prometheus_metrics import render_metrics
from anabranch_server.requester import Asker

router = APIRouter(tags=["server"])


@router.get("/metrics")
async def read_metrics(caller: Asker) -> Response:
    """Return the metrics of this process, which only admins may read where people have to authenticate."""
    caller.require("admin")
    text, media_type = await asyncio.to_thread(render_metrics)
    return Response(text, media_type=media_type)

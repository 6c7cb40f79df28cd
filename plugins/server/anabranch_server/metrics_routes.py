"""The server's metrics in Prometheus' form: numbers, and names of steps, graphs, models and paths; nobody's name."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import Response

from anabranch_server.prometheus_metrics import gathered
from anabranch_server.requester import Asker

router = APIRouter(tags=["server"])


@router.get("/metrics")
async def measured(who: Asker) -> Response:
    """Return the metrics of this process; for an admin where people have to say who they are.

    How much is asked, and how well it goes, is the operator's to know.
    """
    who.require("admin")
    text, media_type = await asyncio.to_thread(gathered)
    return Response(text, media_type=media_type)

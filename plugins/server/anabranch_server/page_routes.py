"""The page itself: its files, which are in the package, and what it has to know of this server before it asks.

The files are for everybody, and say nothing: a person without a key has to be able to reach the form that asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse

import anabranch
from anabranch.agent.graph.settings_precedence import locked_settings
from anabranch.agent.nodes.settings import REACHING
from anabranch_server.requester import Asker

STATIC = Path(__file__).parent / "page" / "static"

FILES: Mapping[str, str] = {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "favicon.svg": "image/svg+xml",
}

OPERATORS = frozenset({"access", *REACHING} - {"model", "rerank_model"})
"""Settings that the page has no field for: the operator's, or for programs."""

router = APIRouter(tags=["page"])


@router.get("/", include_in_schema=False)
async def index() -> FileResponse:
    """Return the page."""
    return _file("index.html")


@router.get("/page/options")
async def options(who: Asker) -> dict[str, Any]:
    """Say who asks, what they may do, and which settings are fixed; 401 where they have to say who they are."""
    return {
        "version": anabranch.__version__,
        "name": who.user.identity if who.user is not None else None,
        "may_ingest": who.user is None or bool(who.user.roles & {"ingest", "admin"}),
        "is_admin": who.user is not None and "admin" in who.user.roles,
        "access": [] if who.user is None else list(who.user.access),
        "fixed": sorted({*OPERATORS, *locked_settings()}),
    }


@router.get("/page/{name}", include_in_schema=False)
async def file(name: str) -> FileResponse:
    """Return one of the page's files."""
    # By name and from a list: no path of a request reaches the disk.
    return _file(name if name in FILES else "index.html")


def _file(name: str) -> FileResponse:
    return FileResponse(STATIC / name, media_type=FILES[name], headers={"Cache-Control": "no-cache"})

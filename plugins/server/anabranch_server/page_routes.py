"""The page's files, and the options that it reads first.

The files are public, because a person without a key has to reach the form that asks for one.
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
"""Settings without a field on the page: the operator's own, or those for programs."""

router = APIRouter(tags=["page"])


@router.get("/", include_in_schema=False)
async def index() -> FileResponse:
    """Return the page."""
    return _file("index.html")


@router.get("/page/options")
async def options(caller: Asker) -> dict[str, Any]:
    """Return the caller's name and rights, and the fixed settings; 401 where they have to authenticate."""
    return {
        "version": anabranch.__version__,
        "name": caller.user.identity if caller.user is not None else None,
        "may_ingest": caller.user is None or bool(caller.user.roles & {"ingest", "admin"}),
        "is_admin": caller.user is not None and "admin" in caller.user.roles,
        "access": [] if caller.user is None else list(caller.user.access),
        "fixed": sorted({*OPERATORS, *locked_settings()}),
    }


@router.get("/page/{name}", include_in_schema=False)
async def file(name: str) -> FileResponse:
    """Return one of the page's files."""
    # Only listed names are served, so no path of a request reaches the disk.
    return _file(name if name in FILES else "index.html")


def _file(name: str) -> FileResponse:
    return FileResponse(STATIC / name, media_type=FILES[name], headers={"Cache-Control": "no-cache"})

"""Tells a supervisor whether the server is up and can work, and lists its graphs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

import anabranch
from anabranch_server.requester import requester
from anabranch_server.services import Serving

router = APIRouter(tags=["server"])

ASSISTANTS = ("answer", "ingest")


@router.get("/ok")
async def up() -> dict[str, bool]:
    """Say that the process answers."""
    return {"ok": True}


@router.get("/ready")
async def ready(services: Serving) -> JSONResponse:
    """Say whether a question could be stored; 503 where it could not."""
    if (reason := await services.probe.problem()) is not None:
        return JSONResponse({"ready": False, "reason": reason}, 503)
    return JSONResponse({"ready": True, "running": services.worker.running})


@router.get("/info")
async def info() -> dict[str, Any]:
    """Return the version."""
    return {"version": anabranch.__version__, "flags": {"assistants": True, "crons": False}}


@router.post("/assistants/search", dependencies=[Depends(requester)])
async def assistants() -> list[dict[str, Any]]:
    """List the graphs."""
    return [_assistant(name) for name in ASSISTANTS]


@router.get("/assistants/{assistant_id}", dependencies=[Depends(requester)])
async def assistant(assistant_id: str) -> JSONResponse:
    """Return one graph."""
    if assistant_id not in ASSISTANTS:
        return JSONResponse({"detail": f"There is no assistant {assistant_id!r}."}, 404)
    return JSONResponse(_assistant(assistant_id))


@router.get("/assistants/{assistant_id}/schemas", dependencies=[Depends(requester)])
async def schemas(assistant_id: str, services: Serving) -> JSONResponse:
    """Return the JSON schemas of a graph's input, output and context."""
    graph = services.graphs.get(assistant_id)
    if graph is None:
        return JSONResponse({"detail": f"There is no assistant {assistant_id!r}."}, 404)
    return JSONResponse(
        {
            "graph_id": assistant_id,
            "input_schema": graph.get_input_jsonschema(),
            "output_schema": graph.get_output_jsonschema(),
            "context_schema": graph.get_context_jsonschema(),
        }
    )


def _assistant(name: str) -> dict[str, Any]:
    return {
        "assistant_id": name,
        "graph_id": name,
        "name": name,
        "config": {},
        "context": {},
        "metadata": {},
        "version": 1,
    }

"""The page, documents, uploads, feedback and MCP tools for a LangGraph server, which has its own threads and runs.

Its langgraph.json names `anabranch.server.page_app:app`, which finds this app by its entry point. Feedback is stored in
the folder or the PostgreSQL database that ANABRANCH_FEEDBACK names; without one, it is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI

import anabranch
from anabranch.errors import AnabranchError
from anabranch.safety.operator import operator
from anabranch_server import (
    document_routes,
    feedback_routes,
    heading_routes,
    login_routes,
    mcp_routes,
    page_routes,
    tool_routes,
    upload_routes,
)
from anabranch_server.application import refusal
from anabranch_server.database import open_database
from anabranch_server.feedback import FeedbackBook
from anabranch_server.page_policy import PagePolicy
from anabranch_server.request_log import GUEST_TELEMETRY
from anabranch_server.request_values import MAX_BODY
from anabranch_server.requester import refuse_other_names


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    place = operator().feedback
    if place is None:
        yield
        return
    async with open_database(place) as engine:
        app.state.feedback = FeedbackBook(engine)
        yield


app = FastAPI(
    title="Anabranch",
    version=anabranch.__version__,
    lifespan=_lifespan,
    telemetry=GUEST_TELEMETRY,
    max_body_size=MAX_BODY,
    dependencies=[Depends(refuse_other_names)],
    docs_url=None,
    redoc_url=None,
)
for each in (
    document_routes,
    heading_routes,
    tool_routes,
    feedback_routes,
    upload_routes,
    login_routes,
    mcp_routes,
    page_routes,
):
    app.include_router(each.router)
app.add_exception_handler(AnabranchError, refusal)
app.add_middleware(PagePolicy)

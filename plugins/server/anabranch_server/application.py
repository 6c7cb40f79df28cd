"""The server: LangGraph's paths for threads and runs, over the answer graph, on one process or several."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

import anabranch
from anabranch.errors import (
    AnabranchError,
    LimitReachedError,
    NotAllowedError,
    NotAuthenticatedError,
    SettingsError,
    UserError,
)
from anabranch.identity.audit_log import check_audit_log
from anabranch.safety.operator import operator
from anabranch_server import (
    a2a_routes,
    chat_completions,
    document_routes,
    feedback_routes,
    health_routes,
    login_routes,
    mcp_routes,
    metrics_routes,
    page_routes,
    run_routes,
    thread_routes,
    upload_routes,
)
from anabranch_server.identity import load_authenticators, needs_identity
from anabranch_server.page_policy import HEADERS, PagePolicy
from anabranch_server.request_log import HEADER, TELEMETRY, RequestLog, request_id
from anabranch_server.request_values import MAX_BODY
from anabranch_server.requester import refuse_other_names
from anabranch_server.run_worker import CONCURRENT
from anabranch_server.services import NotFoundError, open_services
from anabranch_server.write_probe import DATABASE_ERRORS, is_full, not_kept

log = logging.getLogger("anabranch.server")

_STATUS: tuple[tuple[type[AnabranchError], int], ...] = (
    (NotAuthenticatedError, 401),
    (NotAllowedError, 403),
    (NotFoundError, 404),
    (LimitReachedError, 429),
    (UserError, 422),
    (AnabranchError, 503),
)

_ROUTES = (
    health_routes,
    metrics_routes,
    thread_routes,
    run_routes,
    upload_routes,
    document_routes,
    feedback_routes,
    chat_completions,
    login_routes,
    mcp_routes,
    a2a_routes,
    page_routes,
)


def create_app(place: str, *, concurrent: int = CONCURRENT) -> FastAPI:
    """Return the server's application.

    Args:
        place: Where its data are: a folder, or `postgresql://...`.
        concurrent: Runs at once in this process.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # A file that says wrongly who may ask keeps the server from starting, and opens it to nobody.
        if operator().auth is not None:
            load_authenticators()
            if not needs_identity():
                raise SettingsError("A server cannot answer as its operator.", hint="Start it outside `as_operator`.")
        check_audit_log()
        async with open_services(place, concurrent=concurrent) as services:
            app.state.services = services
            app.state.feedback = services.feedback
            app.state.limits = services.limits
            yield

    app = FastAPI(
        title="Anabranch",
        version=anabranch.__version__,
        lifespan=lifespan,
        telemetry=TELEMETRY,
        max_body_size=MAX_BODY,
        dependencies=[Depends(refuse_other_names)],
        # Its own route looks at no host; its pages load scripts from elsewhere, beside a page that keeps a key.
        openapi_url=None,
    )
    app.add_api_route("/openapi.json", app.openapi, include_in_schema=False)
    for each in _ROUTES:
        app.include_router(each.router)
    app.add_exception_handler(AnabranchError, refused)
    for kind in (*DATABASE_ERRORS, OSError):
        app.add_exception_handler(kind, _not_kept)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _not_here)
    app.add_exception_handler(Exception, _broken)
    app.add_middleware(RequestLog)
    app.add_middleware(PagePolicy)
    return app


async def refused(_: Request, error: Exception) -> JSONResponse:
    """Answer with what is wrong, and the status that says whose fault it is."""
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, LimitReachedError) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    return JSONResponse(_problem(str(error), type(error).__name__), status, headers=headers)


async def _not_kept(_: Request, error: Exception) -> JSONResponse:
    """Say that the database cannot be used now: its disk is full, say; what else an OSError means is a fault here."""
    if isinstance(error, OSError) and not is_full(error):
        raise error
    log.error("The server's database does not answer: %s", type(error).__name__)
    return await refused(_, not_kept())


async def _malformed(_: Request, error: Exception) -> JSONResponse:
    """Say where a request is wrong, without repeating what it held."""
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    told = "; ".join(f"{'.'.join(map(str, each['loc'][1:])) or 'its body'}: {each['msg']}" for each in problems[:5])
    return JSONResponse(_problem(f"The request cannot be read: {told}.", "RequestError"), 422)


async def _not_here(_: Request, error: Exception) -> JSONResponse:
    """Say that there is no such path, or that it is not asked for so, as clients read it."""
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse(_problem(error.detail, "RequestError"), error.status_code, headers=error.headers)


async def _broken(_: Request, error: Exception) -> JSONResponse:
    """Say that something is wrong here, and the id under which the log says what."""
    message = f"The server failed; its log says why, under {request_id()}."
    return JSONResponse(_problem(message, type(error).__name__), 500, headers={HEADER: request_id(), **HEADERS})


def _problem(message: str, kind: str) -> dict[str, Any]:
    """Return a problem as clients of LangGraph's servers read it, and as those of OpenAI's do."""
    return {"detail": message, "error": {"message": message, "type": kind, "param": None, "code": None}}

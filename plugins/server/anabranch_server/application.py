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
    DocumentNotFoundError,
    LimitReachedError,
    NotAllowedError,
    NotAuthenticatedError,
    SettingsError,
    UserError,
)
from anabranch.identity.audit_log import check_audit_log
from anabranch.safety.operator import operator
from anabranch_server import (
    chat_completions,
    document_routes,
    feedback_routes,
    heading_routes,
    health_routes,
    login_routes,
    mcp_routes,
    metrics_routes,
    page_routes,
    run_routes,
    thread_routes,
    tool_routes,
    upload_routes,
)
from anabranch_server.identity import load_authenticators, needs_identity
from anabranch_server.page_policy import HEADERS, PagePolicy
from anabranch_server.request_log import HEADER, TELEMETRY, RequestLog, request_id
from anabranch_server.request_values import MAX_BODY
from anabranch_server.requester import refuse_other_names
from anabranch_server.run_worker import CONCURRENT
from anabranch_server.services import NotFoundError, open_services
from anabranch_server.write_probe import DATABASE_ERRORS, is_full, storage_error

log = logging.getLogger("anabranch.server")

_STATUS: tuple[tuple[type[AnabranchError], int], ...] = (
    (NotAuthenticatedError, 401),
    (NotAllowedError, 403),
    (NotFoundError, 404),
    (DocumentNotFoundError, 404),
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
    heading_routes,
    tool_routes,
    feedback_routes,
    chat_completions,
    login_routes,
    mcp_routes,
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
        # An invalid ANABRANCH_AUTH file must stop the server from starting.
        if operator().auth is not None:
            load_authenticators()
            if not needs_identity():
                raise SettingsError("A server cannot start inside `as_operator`.", hint="Start it outside.")
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
        # FastAPI's own routes skip `refuse_other_names`, and its pages load scripts from other sites.
        openapi_url=None,
    )
    app.add_api_route("/openapi.json", app.openapi, include_in_schema=False)
    for each in _ROUTES:
        app.include_router(each.router)
    app.add_exception_handler(AnabranchError, refusal)
    for kind in (*DATABASE_ERRORS, OSError):
        app.add_exception_handler(kind, _storage_failed)
    app.add_exception_handler(RequestValidationError, _malformed_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _server_failed)
    app.add_middleware(RequestLog)
    app.add_middleware(PagePolicy)
    return app


async def refusal(_: Request, error: Exception) -> JSONResponse:
    """Answer with the error's message, and the status of its kind."""
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, LimitReachedError) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    return JSONResponse(_problem(str(error), type(error).__name__), status, headers=headers)


async def _storage_failed(_: Request, error: Exception) -> JSONResponse:
    """Answer 503 where the database fails or the disk is full; any other OSError is a bug."""
    if isinstance(error, OSError) and not is_full(error):
        raise error
    log.error("The server's database does not answer: %s", type(error).__name__)
    return await refusal(_, storage_error())


async def _malformed_request(_: Request, error: Exception) -> JSONResponse:
    """Say which fields of a request are wrong, without repeating their values."""
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    faults = "; ".join(f"{'.'.join(map(str, each['loc'][1:])) or 'its body'}: {each['msg']}" for each in problems[:5])
    return JSONResponse(_problem(f"The request cannot be read: {faults}.", "RequestError"), 422)


async def _http_error(_: Request, error: Exception) -> JSONResponse:
    """Answer an unknown path or method in the form that clients read."""
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse(_problem(error.detail, "RequestError"), error.status_code, headers=error.headers)


async def _server_failed(_: Request, error: Exception) -> JSONResponse:
    """Answer 500 with the id under which the log has the reason."""
    message = f"The server failed; its log has the reason under request id {request_id()}."
    return JSONResponse(_problem(message, type(error).__name__), 500, headers={HEADER: request_id(), **HEADERS})


def _problem(message: str, kind: str) -> dict[str, Any]:
    """Return a problem in the forms of LangGraph's and of OpenAI's servers."""
    return {"detail": message, "error": {"message": message, "type": kind, "param": None, "code": None}}

"""The tools for documents in the page's API: list, search, scan and read, with the bounds that agents have.

To ask is a run (`run_routes`).
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from anabranch.agent.graph.document_access import MOST, USUAL, DocumentAccess
from anabranch.retrieval.document_tools import MAX_NAME, MOST_PASSAGES
from anabranch.retrieval.result_cursor import MAX_CURSOR
from anabranch.retrieval.wildcards import MAX_PATTERN
from anabranch_server.requester import Asker
from anabranch_server.usage_limits import Limited

router = APIRouter(prefix="/tools", tags=["tools"])

Number = Annotated[int, Field(ge=1, le=MOST_PASSAGES)]


class ToolRequest(BaseModel):
    """What every tool takes; `cursor` is that of an earlier result of the same call."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    cursor: Annotated[str, Field(max_length=MAX_CURSOR)] = ""


class ListRequest(ToolRequest):
    """Which documents to list; see `anabranch.store.filters`."""

    filters: dict[str, Any] | None = None


class SearchRequest(ListRequest):
    """What to search for, and how many passages to return at once."""

    query: Annotated[str, Field(max_length=10_000)]
    limit: Annotated[int, Field(ge=1, le=MOST)] = USUAL


class GrepRequest(ToolRequest):
    """Which words to find, and in which document; in all if none is named."""

    pattern: Annotated[str, Field(max_length=MAX_PATTERN)]
    document: Annotated[str, Field(max_length=MAX_NAME)] = ""


class ReadRequest(ToolRequest):
    """Which passages of which document to read; the last one is that of the document if none is named."""

    document: Annotated[str, Field(max_length=MAX_NAME)]
    first: Annotated[Number, Field(alias="from")] = 1
    last: Annotated[Number | None, Field(alias="to")] = None


async def open_access(caller: Asker, limits: Limited) -> DocumentAccess:
    """Count a call, and return what the caller may see.

    Raises:
        NotAllowedError: The caller lacks the role `ask`.
        LimitReachedError: The caller has reached a limit.
    """
    caller.require("ask")
    if limits is not None:
        await limits.begin(caller)
    return DocumentAccess(caller.user)


Access = Annotated[DocumentAccess, Depends(open_access)]


@router.post("/list_documents")
async def list_documents(body: ListRequest, documents: Access) -> JSONResponse:
    """List the documents that the caller may ask about, by source."""
    return _reply(await documents.list_documents(body.filters, body.cursor))


@router.post("/search")
async def search(body: SearchRequest, documents: Access) -> JSONResponse:
    """Return the passages that a query finds, best first."""
    return _reply(await documents.search(body.query, body.filters, body.limit, body.cursor))


@router.post("/grep")
async def grep(body: GrepRequest, documents: Access) -> JSONResponse:
    """Return the passages with the words of a pattern, document by document."""
    return _reply(await documents.grep(body.pattern, body.document, body.cursor))


@router.post("/read")
async def read(body: ReadRequest, documents: Access) -> JSONResponse:
    """Return passages of a document, from one number to another."""
    return _reply(await documents.read(body.document, body.first, body.last, body.cursor))


def _reply(result: Any) -> JSONResponse:  # noqa: ANN401  # a result of a tool
    # Not cached: the documents are private, and may change.
    return JSONResponse(result, headers={"Cache-Control": "no-store"})

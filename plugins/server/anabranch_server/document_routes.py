"""Documents for the page: their list, pictures of pages, the place of a quote, and the text around it.

Who may ingest may also remove, unless the file has access tags that they do not hold.

Everything stays within the caller's scope. A file on the disk is opened by the path in the corpus, never by one in a
request, and is shown only while its bytes are those that were ingested.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Response
from fastapi.responses import JSONResponse

from anabranch.agent.graph.settings_precedence import operator_settings
from anabranch.errors import SettingsError
from anabranch.identity.audit_log import audit
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.ingestion.removal import remove_file
from anabranch.readers.document import Chunk
from anabranch.store.file_identity import archives_of, is_url
from anabranch.store.protocol import CorpusReader, Original, Originals, Outlines, Scope
from anabranch.store.stores import open_corpus
from anabranch_server.page_process import REASONS, PageProcess
from anabranch_server.requester import Asker, Requester
from anabranch_server.services import NotFoundError
from anabranch_server.upload_routes import discard

MOST_LISTED = 10_000
WAIT = 10.0
"""Seconds that a removal waits for a running ingest."""

_drawing = PageProcess()
"""The one page process of this server; the router's lifespan ends it."""


@asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(_drawing.close)


router = APIRouter(tags=["documents"], lifespan=_lifespan)

# Documents are private: only the reader's own browser may cache them, and no proxy.
NO_STORE = {"Cache-Control": "no-store"}
PRIVATE = {"Cache-Control": "private, max-age=300", "X-Content-Type-Options": "nosniff", "Vary": "Authorization"}


@dataclass(frozen=True, slots=True)
class Readable:
    """The caller's corpus, and what they may see of it."""

    corpus: CorpusReader
    scope: Scope
    caller: Requester
    rights: AccessRights
    """Which documents they may change."""

    async def note(self, doc_id: str, source: str, **details: object) -> None:
        """Record in the audit log that a document is opened."""
        await audit("document", self.caller.user, documents=[{"id": doc_id, "source": source}], **details)


async def open_view(caller: Asker) -> Readable:
    """Open the caller's corpus.

    Raises:
        NotAllowedError: The caller lacks the role `ask`.
        UserError: The operator's corpus cannot be opened.
    """
    caller.require("ask")
    context = operator_settings(caller.user)
    tags = tuple(context.access)
    rights = OPERATOR if caller.user is None or "admin" in caller.user.roles else AccessRights(frozenset(tags))
    return Readable(await open_corpus(context.corpus), Scope(access=tags), caller, rights)


View = Annotated[Readable, Depends(open_view)]
# No database compares, and no reader of pages counts, more than this.
MOST = 10**9
Character = Annotated[int, Query(ge=0, le=MOST)]
PageNumber = Annotated[int, Path(ge=-MOST, le=MOST)]


@router.get("/documents")
async def list_documents(
    view: View,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Annotated[int, Query(ge=0, le=MOST_LISTED)] = 0,
) -> JSONResponse:
    """List the documents that the caller may read, by source, with their numbers of pages."""
    if not isinstance(view.corpus, Outlines) or not isinstance(view.corpus, Originals):
        raise SettingsError("This kind of store does not list its documents.", hint="Search it instead.")
    ids = [each.doc_id for each in await view.corpus.outlines(view.scope, offset + limit)][offset:]
    found = await view.corpus.originals(ids, view.scope)
    # Not cached: a document that was just ingested or removed has to show.
    return JSONResponse([_entry(view, doc_id, each) for doc_id, each in found.items()], headers=NO_STORE)


@router.delete("/documents/{doc_id}")
async def remove(doc_id: str, view: View, caller: Asker) -> dict[str, Any]:
    """Remove the file of a document from the corpus, with all its documents.

    Returns:
        `file`: its name, `documents`: how many it held, `deleted`: whether the file itself was deleted, which happens
        only to files that the caller has uploaded.
    """
    caller.require("ingest")
    original = await _find_original(view, doc_id)
    corpus = operator_settings(caller.user).corpus
    named = [{"id": doc_id, "source": original.source}]
    await audit("remove", caller.user, corpus=corpus, documents=named, file=original.file)
    removed = await asyncio.to_thread(remove_file, corpus, original.path, rights=view.rights, wait=WAIT)
    deleted = await asyncio.to_thread(discard, original.path, caller)
    return {"file": original.file, "documents": removed, "deleted": deleted}


@router.get("/documents/{doc_id}/pages/{number}.png")
async def picture(doc_id: str, number: PageNumber, view: View) -> Response:
    """Return the picture of a page, or 404 with the reason why there is none."""
    original = await _find_original(view, doc_id)
    await view.note(doc_id, original.source, page=number)
    reply, png = await _draw(original, {"page": number})
    if "reason" in reply:
        return JSONResponse({"detail": REASONS[reply["reason"]], "reason": reply["reason"]}, 404)
    return Response(png, media_type="image/png", headers=PRIVATE)


@router.get("/documents/{doc_id}/pages/{number}/marks")
async def marks(
    doc_id: str, number: PageNumber, view: View, chunk_id: str | None = None, start: Character = 0, end: Character = 0
) -> JSONResponse:
    """Return a page's size in points, and the boxes of the words [start, end) of a passage on it.

    `on` lists the pages that hold the words; both are empty where the words were not found. Where a page cannot be
    shown, there are only `reason` and its text, `told`.
    """
    original = await _find_original(view, doc_id)
    chunk = await find_passage(view, chunk_id) if chunk_id is not None else None
    if chunk is not None and chunk.doc_id != doc_id:
        raise NotFoundError("passage", str(chunk_id))
    is_near = chunk is not None and chunk.page is not None and chunk.page <= number <= (chunk.page_end or chunk.page)
    order: dict[str, Any] = {"page": number, "quote": ("", "", "")}
    if chunk is not None and is_near:
        order |= {"quote": _parts(chunk, chunk, start, end), "over": await _find_pages(view, chunk, start, end)}
    reply, _ = await _draw(original, order)
    if "reason" in reply:
        reply["told"] = REASONS[reply["reason"]]
    return JSONResponse(reply, headers=PRIVATE)


@router.get("/passages/{chunk_id}")
async def passage(chunk_id: str, view: View, start: Character = 0, end: Character = 0) -> JSONResponse:
    """Return a passage with the text around it; the words [start, end) of the document are its `quote`."""
    chunk = await find_passage(view, chunk_id)
    await view.note(chunk.doc_id, chunk.source, passage=chunk_id)
    around = chunk
    if chunk.parent_id is not None:
        around = (await view.corpus.chunks([chunk.parent_id], view.scope)).get(chunk.parent_id, chunk)
    before, quote, after = _parts(chunk, around, start, end)
    (place,) = await view.corpus.places([(chunk.doc_id, start or chunk.start)], view.scope)
    return JSONResponse(
        {
            "chunk_id": chunk.chunk_id,
            "doc_id": chunk.doc_id,
            "title": chunk.title,
            "source": chunk.source,
            "heading": place.heading or chunk.heading,
            "page": place.page,
            "page_end": chunk.page_end,
            "before": before,
            "quote": quote,
            "after": after,
        },
        headers=PRIVATE,
    )


def _entry(view: Readable, doc_id: str, original: Original) -> dict[str, Any]:
    """Return an entry of the list; of its tags it names only the caller's own, and says whether there are others."""
    own = [tag for tag in original.access if tag in view.scope.access]
    return {
        "doc_id": doc_id,
        "title": original.title,
        "source": original.source,
        "file": original.file,
        "pages": original.pages,
        "access": own,
        "has_other_access": len(own) < len(original.access),
        "removable": view.rights.cover(original.access),
    }


async def _find_original(view: Readable, doc_id: str) -> Original:
    """Return the file of a document that the caller may read.

    Raises:
        NotFoundError: There is none, or only others may read it.
    """
    found: dict[str, Original] = {}
    if isinstance(view.corpus, Originals):
        found = await view.corpus.originals([doc_id], view.scope)
    if doc_id not in found:
        raise NotFoundError("document", doc_id)
    return found[doc_id]


async def find_passage(view: Readable, chunk_id: str) -> Chunk:
    """Return a passage that the caller may read.

    Raises:
        NotFoundError: There is none, or only others may read it.
    """
    found = await view.corpus.chunks([chunk_id], view.scope)
    if chunk_id not in found:
        raise NotFoundError("passage", chunk_id)
    return found[chunk_id]


async def _find_pages(view: Readable, chunk: Chunk, start: int, end: int) -> list[int]:
    """Return the first and the last page of the words; empty where they are on no page."""
    start, end = _span(chunk, start, end)
    places = await view.corpus.places([(chunk.doc_id, start), (chunk.doc_id, end - 1)], view.scope)
    return [place.page for place in places if place.page is not None]


async def _draw(original: Original, order: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    reason = _hindrance(original)
    if reason is not None:
        return {"reason": reason}, b""
    return await _drawing.order({"path": original.path, "sha256": original.sha256, **order})


def _hindrance(original: Original) -> str | None:
    """Return the reason why no page of a file can be shown, without opening it."""
    if is_url(original.path):
        return "web"
    if next(archives_of(original.path), None) is not None:
        return "archive"
    if PurePath(original.path).suffix.lower() != ".pdf":
        return "no_pages"
    if not original.sha256 or not PurePath(original.path).is_absolute():
        return "no_file"
    return None


def _span(chunk: Chunk, start: int, end: int) -> tuple[int, int]:
    """Return [start, end) if it lies in the passage, else the whole passage."""
    return (start, end) if chunk.start <= start < end <= chunk.end else (chunk.start, chunk.end)


def _parts(chunk: Chunk, around: Chunk, start: int, end: int) -> tuple[str, str, str]:
    """Return the text before the words [start, end), the words, and the text after them."""
    start, end = _span(chunk, start, end)
    text, zero = around.text, around.start
    return text[: start - zero], text[start - zero : end - zero], text[end - zero :]

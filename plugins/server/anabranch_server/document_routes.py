"""Documents for the page: which there are, their pages as pictures, where a quote stands, and the text around it.

Whoever may take in may remove, under the same rule: not a file with access tags that they do not all hold.

All of it within the scope of whoever asks. What lies on the disk is opened by the path that the corpus noted, never by
anything of a request, and shown only as long as it is, byte for byte, what was taken in.
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
"""Seconds that a removal waits for an ingest."""

_drawing = PageProcess()
"""One for the process; the router's lifespan ends it."""


@asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(_drawing.close)


router = APIRouter(tags=["documents"], lifespan=_lifespan)

# Somebody's documents: kept by their own browser for a while, and by nothing in between.
_UNKEPT = {"Cache-Control": "no-store"}
_PRIVATE = {"Cache-Control": "private, max-age=300", "X-Content-Type-Options": "nosniff", "Vary": "Authorization"}


@dataclass(frozen=True, slots=True)
class Readable:
    """The corpus in force for whoever asks, and what of it they may see."""

    corpus: CorpusReader
    scope: Scope
    who: Requester
    rights: AccessRights
    """What they may change of it."""

    async def note(self, doc_id: str, source: str, **what: object) -> None:
        """Put into the audit log that a document is opened."""
        await audit("document", self.who.user, documents=[{"id": doc_id, "source": source}], **what)


async def readable(who: Asker) -> Readable:
    """Return what whoever asks may read.

    Raises:
        NotAllowedError: They lack the role.
        UserError: The operator's corpus cannot be opened.
    """
    who.require("ask")
    context = operator_settings(who.user)
    tags = tuple(context.access)
    rights = OPERATOR if who.user is None or "admin" in who.user.roles else AccessRights(frozenset(tags))
    return Readable(await open_corpus(context.corpus), Scope(access=tags), who, rights)


Sees = Annotated[Readable, Depends(readable)]
# What no database compares and no reader of pages counts.
MOST = 10**9
Character = Annotated[int, Query(ge=0, le=MOST)]
PageNumber = Annotated[int, Path(ge=-MOST, le=MOST)]


@router.get("/documents")
async def listed(
    of: Sees, limit: Annotated[int, Query(ge=1, le=500)] = 100, offset: Annotated[int, Query(ge=0, le=MOST_LISTED)] = 0
) -> JSONResponse:
    """Return the documents that one may read, by source, with how many pages they have."""
    if not isinstance(of.corpus, Outlines) or not isinstance(of.corpus, Originals):
        raise SettingsError("This kind of store does not list its documents.", hint="Search it instead.")
    ids = [each.doc_id for each in await of.corpus.outlines(of.scope, offset + limit)][offset:]
    found = await of.corpus.originals(ids, of.scope)
    # Kept by no browser: what was taken in, or removed, a moment ago has to show.
    return JSONResponse([_entry(of, doc_id, each) for doc_id, each in found.items()], headers=_UNKEPT)


@router.delete("/documents/{doc_id}")
async def remove(doc_id: str, of: Sees, who: Asker) -> dict[str, Any]:
    """Remove the file that a document is from, with all its documents.

    Returns:
        `file`: what it is called, `documents`: how many it held, `deleted`: whether the file itself, which this person
        had sent, is deleted; others stay where they are.
    """
    who.require("ingest")
    original = await _original(of, doc_id)
    corpus = operator_settings(who.user).corpus
    named = [{"id": doc_id, "source": original.source}]
    await audit("remove", who.user, corpus=corpus, documents=named, file=original.file)
    removed = await asyncio.to_thread(remove_file, corpus, original.path, rights=of.rights, wait=WAIT)
    deleted = await asyncio.to_thread(discard, original.path, who)
    return {"file": original.file, "documents": removed, "deleted": deleted}


@router.get("/documents/{doc_id}/pages/{number}.png")
async def picture(doc_id: str, number: PageNumber, of: Sees) -> Response:
    """Return the picture of a page; 404 with the reason where it is not shown."""
    original = await _original(of, doc_id)
    await of.note(doc_id, original.source, page=number)
    reply, png = await _drawn(original, {"page": number})
    if "reason" in reply:
        return JSONResponse({"detail": REASONS[reply["reason"]], "reason": reply["reason"]}, 404)
    return Response(png, media_type="image/png", headers=_PRIVATE)


@router.get("/documents/{doc_id}/pages/{number}/marks")
async def marks(
    doc_id: str, number: PageNumber, of: Sees, chunk_id: str | None = None, start: Character = 0, end: Character = 0
) -> JSONResponse:
    """Return a page's size in points, and the boxes of the words [start, end) of a passage on it.

    `on` has the pages that the words stand on; both are empty where the words were not found. Where a page is not
    shown, there is only `reason` and, in words, `told`.
    """
    original = await _original(of, doc_id)
    chunk = await _passage(of, chunk_id) if chunk_id is not None else None
    if chunk is not None and chunk.doc_id != doc_id:
        raise NotFoundError("passage", str(chunk_id))
    is_near = chunk is not None and chunk.page is not None and chunk.page <= number <= (chunk.page_end or chunk.page)
    order: dict[str, Any] = {"page": number, "quote": ("", "", "")}
    if chunk is not None and is_near:
        order |= {"quote": _parts(chunk, chunk, start, end), "over": await _pages_of(of, chunk, start, end)}
    reply, _ = await _drawn(original, order)
    if "reason" in reply:
        reply["told"] = REASONS[reply["reason"]]
    return JSONResponse(reply, headers=_PRIVATE)


@router.get("/passages/{chunk_id}")
async def passage(chunk_id: str, of: Sees, start: Character = 0, end: Character = 0) -> JSONResponse:
    """Return a passage within its surroundings, with the words [start, end) of the document's text apart."""
    chunk = await _passage(of, chunk_id)
    await of.note(chunk.doc_id, chunk.source, passage=chunk_id)
    around = chunk
    if chunk.parent_id is not None:
        around = (await of.corpus.chunks([chunk.parent_id], of.scope)).get(chunk.parent_id, chunk)
    before, quote, after = _parts(chunk, around, start, end)
    (place,) = await of.corpus.places([(chunk.doc_id, start or chunk.start)], of.scope)
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
        headers=_PRIVATE,
    )


def _entry(of: Readable, doc_id: str, original: Original) -> dict[str, Any]:
    """Return a document as the list shows it; of its tags only those that one holds, and that there are others."""
    own = [tag for tag in original.access if tag in of.scope.access]
    return {
        "doc_id": doc_id,
        "title": original.title,
        "source": original.source,
        "file": original.file,
        "pages": original.pages,
        "access": own,
        "has_other_access": len(own) < len(original.access),
        "removable": of.rights.cover(original.access),
    }


async def _original(of: Readable, doc_id: str) -> Original:
    """Return the file of a document that one may read.

    Raises:
        NotFoundError: There is none; whether somebody else may read one of this id is not said.
    """
    found: dict[str, Original] = {}
    if isinstance(of.corpus, Originals):
        found = await of.corpus.originals([doc_id], of.scope)
    if doc_id not in found:
        raise NotFoundError("document", doc_id)
    return found[doc_id]


async def _passage(of: Readable, chunk_id: str) -> Chunk:
    found = await of.corpus.chunks([chunk_id], of.scope)
    if chunk_id not in found:
        raise NotFoundError("passage", chunk_id)
    return found[chunk_id]


async def _pages_of(of: Readable, chunk: Chunk, start: int, end: int) -> list[int]:
    """Return the first and the last page of words; nothing where they are on no page."""
    start, end = _span(chunk, start, end)
    places = await of.corpus.places([(chunk.doc_id, start), (chunk.doc_id, end - 1)], of.scope)
    return [place.page for place in places if place.page is not None]


async def _drawn(original: Original, order: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    reason = _hindrance(original)
    if reason is not None:
        return {"reason": reason}, b""
    return await _drawing.order({"path": original.path, "sha256": original.sha256, **order})


def _hindrance(original: Original) -> str | None:
    """Say why no page of a file can be shown, before anything is opened."""
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
    """Return [start, end) if that is of a passage, and else the whole of it."""
    return (start, end) if chunk.start <= start < end <= chunk.end else (chunk.start, chunk.end)


def _parts(chunk: Chunk, around: Chunk, start: int, end: int) -> tuple[str, str, str]:
    """Return what stands before the words [start, end), the words, and what stands after; the passage without words."""
    start, end = _span(chunk, start, end)
    text, zero = around.text, around.start
    return text[: start - zero], text[start - zero : end - zero], text[end - zero :]

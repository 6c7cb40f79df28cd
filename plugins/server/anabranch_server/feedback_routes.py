"""Feedback on answers: stored here, and fetched as questions for `anabranch eval`.

The question and the answer are read from the thread; the request holds only the person's verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from anabranch.agent.nodes.finish import derive_result
from anabranch.errors import SettingsError
from anabranch.identity.audit_log import audit
from anabranch_server.document_routes import Readable, View
from anabranch_server.feedback import FeedbackBook, FeedbackVerdict, Opinion, Words
from anabranch_server.requester import Asker
from anabranch_server.services import NotFoundError
from anabranch_server.thread_states import read_turn

router = APIRouter(tags=["feedback"])

Id = Annotated[str, Field(min_length=1, max_length=100)]


class FeedbackRequest(BaseModel):
    """Feedback on the answer of a run; `chunk_id` names a passage that would have been a better source."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    run_id: Id
    thread_id: Id
    verdict: FeedbackVerdict
    comment: Annotated[str, Field(max_length=2000)] = ""
    chunk_id: Id | None = None


def feedback_book(request: Request) -> FeedbackBook:
    """Return the book of feedback.

    Raises:
        SettingsError: The page is on another server, whose operator set no ANABRANCH_FEEDBACK.
    """
    found = getattr(request.app.state, "feedback", None)
    if not isinstance(found, FeedbackBook):
        raise SettingsError(
            "This server keeps no feedback.", hint="Its operator can name a folder in ANABRANCH_FEEDBACK."
        )
    return found


Book = Annotated[FeedbackBook, Depends(feedback_book)]


@router.post("/feedback", status_code=204)
async def give(body: FeedbackRequest, request: Request, caller: Asker, view: View, opinions: Book) -> None:
    """Store feedback on one of the caller's answers."""
    values = await read_turn(request, caller, body.thread_id, body.run_id)
    if values is None:
        raise NotFoundError("run", body.run_id)
    better = None
    if body.chunk_id is not None:
        better = next(iter(await _words(view, {body.chunk_id: None})), None)
        if better is None:
            raise NotFoundError("passage", body.chunk_id)
    facts = body.model_dump(include={"thread_id", "run_id", "verdict", "chunk_id"})
    await audit("feedback", caller.user, **facts)
    turn = values.get("turn") or {}
    cited = {each["chunk_id"]: each["quote"] for each in derive_result(values)["citations"]}
    await opinions.add(
        Opinion(
            owner=caller.owner,
            thread_id=body.thread_id,
            run_id=body.run_id,
            verdict=body.verdict,
            comment=body.comment,
            question=turn.get("standalone_question") or turn.get("question") or "",
            answer=values.get("answer") or "",
            shown=await _words(view, cited),
            better=better,
        )
    )


@router.get("/feedback.jsonl", response_class=PlainTextResponse)
async def fetch(caller: Asker, opinions: Book) -> PlainTextResponse:
    """Return all feedback as the lines that `anabranch eval` reads; for admins."""
    caller.require("admin")
    tenant = None if caller.user is None else caller.user.tenant or ""
    lines = [json.dumps(each.as_question(), ensure_ascii=False) async for each in opinions.all(tenant)]
    await audit("export", caller.user, opinions=len(lines))
    text = "".join(f"{line}\n" for line in lines)
    return PlainTextResponse(text, media_type="application/jsonl", headers={"Cache-Control": "no-store"})


async def _words(view: Readable, quotes: Mapping[str, Any]) -> list[Words]:
    """Return the quotes from the passages that the caller may read; the whole passage where there is no quote."""
    chunks = await view.corpus.chunks(list(quotes), view.scope)
    return [Words(key, chunk.doc_key, quotes[key] or chunk.text) for key, chunk in chunks.items()]

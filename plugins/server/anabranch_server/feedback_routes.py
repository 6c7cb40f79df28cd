"""Was the answer right: what people say of an answer is kept, and can be fetched as questions for `anabranch eval`.

What was asked and shown comes from the thread itself and not from the request, which says only what somebody thinks.
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
from anabranch_server.document_routes import Readable, Sees
from anabranch_server.feedback import FeedbackBook, FeedbackVerdict, Opinion, Words
from anabranch_server.requester import Asker
from anabranch_server.services import NotFoundError
from anabranch_server.thread_states import turn_of

router = APIRouter(tags=["feedback"])

Id = Annotated[str, Field(min_length=1, max_length=100)]


class FeedbackRequest(BaseModel):
    """What somebody says of the answer of a run; `chunk_id` is the passage that would have been the better source."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    run_id: Id
    thread_id: Id
    verdict: FeedbackVerdict
    comment: Annotated[str, Field(max_length=2000)] = ""
    chunk_id: Id | None = None


def book(request: Request) -> FeedbackBook:
    """Return where feedback is kept.

    Raises:
        SettingsError: Nowhere: another server serves the page, and its operator named no place.
    """
    found = getattr(request.app.state, "feedback", None)
    if not isinstance(found, FeedbackBook):
        raise SettingsError("This server keeps no feedback.", hint="The operator names a folder in ANABRANCH_FEEDBACK.")
    return found


Book = Annotated[FeedbackBook, Depends(book)]


@router.post("/feedback", status_code=204)
async def give(given: FeedbackRequest, request: Request, who: Asker, sees: Sees, kept: Book) -> None:
    """Keep what somebody says of one of their answers."""
    values = await turn_of(request, who, given.thread_id, given.run_id)
    if values is None:
        raise NotFoundError("run", given.run_id)
    better = None
    if given.chunk_id is not None:
        better = next(iter(await _words(sees, {given.chunk_id: None})), None)
        if better is None:
            raise NotFoundError("passage", given.chunk_id)
    facts = given.model_dump(include={"thread_id", "run_id", "verdict", "chunk_id"})
    await audit("feedback", who.user, **facts)
    turn = values.get("turn") or {}
    cited = {each["chunk_id"]: each["quote"] for each in derive_result(values)["citations"]}
    await kept.add(
        Opinion(
            owner=who.owner,
            thread_id=given.thread_id,
            run_id=given.run_id,
            verdict=given.verdict,
            comment=given.comment,
            question=turn.get("standalone_question") or turn.get("question") or "",
            answer=values.get("answer") or "",
            shown=await _words(sees, cited),
            better=better,
        )
    )


@router.get("/feedback.jsonl", response_class=PlainTextResponse)
async def fetch(who: Asker, kept: Book) -> PlainTextResponse:
    """Return all feedback, one question a line, as `anabranch eval` reads them; for admins."""
    who.require("admin")
    tenant = None if who.user is None else who.user.tenant or ""
    lines = [json.dumps(each.as_question(), ensure_ascii=False) async for each in kept.all(tenant)]
    await audit("export", who.user, opinions=len(lines))
    text = "".join(f"{line}\n" for line in lines)
    return PlainTextResponse(text, media_type="application/jsonl", headers={"Cache-Control": "no-store"})


async def _words(sees: Readable, quotes: Mapping[str, Any]) -> list[Words]:
    """Return the words of passages that one may read; a whole passage where no words of it are named."""
    chunks = await sees.corpus.chunks(list(quotes), sees.scope)
    return [Words(key, chunk.doc_key, quotes[key] or chunk.text) for key, chunk in chunks.items()]

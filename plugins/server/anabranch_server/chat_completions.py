"""OpenAI's chat completions over the answer graph, for programs that speak nothing else.

The text is what was checked, and not the words as they are written: what has been sent cannot be taken back, and a
claim that nothing supports would stand there as an answer. Meanwhile the steps are sent as `reasoning_content`, which
chat programs show as what the model does before it answers.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from anabranch import errors
from anabranch.citations.answer_sources import placed, title_of
from anabranch.citations.unconfirmed_claims import unconfirmed_lines
from anabranch_server.event_log import STREAM_HEADERS
from anabranch_server.request_values import JsonObject
from anabranch_server.requester import Asker
from anabranch_server.run_queue import RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.services import NotFoundError, Services, Serving

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL = "anabranch"
_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}


class ChatMessage(BaseModel):
    """One message; of a content in parts, the texts."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[JsonObject] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        if isinstance(self.content, str) or self.content is None:
            return self.content or ""
        texts = [part.get("text") for part in self.content if part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))


class StreamOptions(BaseModel):
    """What a stream tells besides the answer."""

    include_usage: bool | None = False


class CompletionRequest(BaseModel):
    """The body of a request; what is not named here is left alone, for the graph chooses it.

    Attributes:
        messages: The conversation, the question last. Instructions of a system are the server's own.
        stream: Whether to send the answer in pieces.
        stream_options: Whether the pieces end with one that tells the tokens.
        n: How many answers: there is one.
        context: Settings, as LangGraph's API takes them.
    """

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    messages: list[ChatMessage] = Field(min_length=1, max_length=1000)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=1, ge=1, le=1)
    context: JsonObject = Field(default_factory=dict)


@router.get("/models")
async def models(who: Asker) -> JSONResponse:
    """Return the one model that there is."""
    who.require("ask")
    return JSONResponse({"object": "list", "data": [_MODEL]})


@router.get("/models/{model}")
async def model(model: str, who: Asker) -> JSONResponse:
    """Return the one model by its name."""
    who.require("ask")
    if model != MODEL:
        raise NotFoundError("model", model)
    return JSONResponse(_MODEL)


@router.post("/chat/completions")
async def complete(body: CompletionRequest, who: Asker, of: Serving, http: Request) -> Response:
    """Answer the last question of a conversation; nothing of it is kept."""
    who.require("ask")
    spoken = [each for each in body.messages if each.role in ("user", "assistant") and each.text]
    given = {"messages": [{"role": each.role, "content": each.text} for each in spoken]}
    request = RunRequest(input=given, context=body.context, stream_mode=("custom",), stream_subgraphs=True)
    request.check(list(of.graphs))
    run = await of.accept(who, request, None)
    if body.stream:
        tells_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        pieces = _pieces(of, run, tells_usage=tells_usage)
        return StreamingResponse(pieces, media_type="text/event-stream", headers=STREAM_HEADERS)
    await of.over(run, http)
    left = await of.outcome(run)
    if "error" in left:
        return JSONResponse({"error": _error(left["error"])}, _status(left["error"]))
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message_of(left["values"])}}
    return JSONResponse(_frame(run, "chat.completion", choice) | {"usage": _usage(left["values"])})


async def _pieces(of: Services, run: RunRecord, *, tells_usage: bool) -> AsyncIterator[str]:
    """Yield the steps while they go on, then the answer."""
    async with of.stopped_when_left(run):
        yield _line(_frame(run, "chat.completion.chunk", _delta({"role": "assistant", "content": ""})))
        async for event in of.events.read(run.run_id):
            if event is None:
                yield ": waiting\n\n"
            # The search's own steps come under the name of its subgraph.
            elif event.name.startswith("custom") and (step := json.loads(event.data)).get("status") == "started":
                said = {"reasoning_content": f"{step['step']}\n"}
                yield _line(_frame(run, "chat.completion.chunk", _delta(said)))
    left = await of.outcome(run)
    if "error" in left:
        yield _line({"error": _error(left["error"])})
    else:
        yield _line(_frame(run, "chat.completion.chunk", _delta(message_of(left["values"]))))
        yield _line(_frame(run, "chat.completion.chunk", _delta({}, "stop")))
        if tells_usage:
            yield _line(_frame(run, "chat.completion.chunk") | {"usage": _usage(left["values"])})
    yield "data: [DONE]\n\n"


def message_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an answer, with its sources below it, and the same as OpenAI's annotations.

    Many programs show no annotations, and would leave markers that lead nowhere. Passages that are shown whole name
    their sources themselves.
    """
    answer, citations = str(state.get("answer", "")), state.get("citations") or []
    # One passage may run over several pages and sections; each is named once.
    ordered = sorted(citations, key=lambda each: each["marker"])
    is_composed = (state.get("route") or {}).get("name") == "compose"
    named = [] if is_composed else [f"[{each['marker']}] {title_of(each)}" for each in ordered]
    sources = "\n".join(dict.fromkeys(named))
    annotations = [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": place[0],
                "end_index": place[1],
                "title": title_of(each),
                "url": each["link"],
                "quote": each["quote"],
                "grade": each["grade"],
            },
        }
        for each, place in placed(answer, citations)
        if place is not None
    ]
    doubts = "\n".join(unconfirmed_lines(state.get("status", ""), state.get("unconfirmed") or []))
    return {"content": "\n\n".join(filter(None, (answer, sources, doubts))), "annotations": annotations}


def _usage(state: Mapping[str, Any]) -> dict[str, int]:
    usage = state.get("usage") or {}
    sent, written = usage.get("prompt_tokens", 0), usage.get("output_tokens", 0)
    return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}


def _error(error: Mapping[str, Any]) -> dict[str, Any]:
    return {"message": error.get("message", ""), "type": error.get("error", "error"), "param": None, "code": None}


def _status(error: Mapping[str, Any]) -> int:
    """Return whose fault it is that a run failed: programs ask again where it is the server's or the model's."""
    kind = getattr(errors, error["error"], Exception)
    if issubclass(kind, errors.UserError):
        return 422
    return 503 if issubclass(kind, errors.AnabranchError) else 500


def _delta(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": dict(delta), "finish_reason": finish}


def _frame(run: RunRecord, kind: str, *choices: Mapping[str, Any]) -> dict[str, Any]:
    made = int(run.created_at)
    return {"id": f"chatcmpl-{run.run_id}", "object": kind, "created": made, "model": MODEL, "choices": [*choices]}


def _line(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"

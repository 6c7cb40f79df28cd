"""OpenAI's chat completions over the answer graph, for programs that speak only this protocol.

The answer is sent only after it was checked: a word that has been sent cannot be taken back. Until then the steps are
sent as `reasoning_content`, which chat programs show while the model works.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from anabranch import errors
from anabranch.citations.answer_sources import locate_markers, title_of
from anabranch.citations.unconfirmed_claims import unconfirmed_lines
from anabranch.safety.link_removal import escape_marks, make_plain
from anabranch_server.event_log import STREAM_HEADERS
from anabranch_server.request_values import JsonObject
from anabranch_server.requester import Asker
from anabranch_server.run_queue import RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.services import Services, Serving

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL = "anabranch"
_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}


class ChatMessage(BaseModel):
    """One message; of a content in parts, only the texts count."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[JsonObject] | None = None

    @property
    def text(self) -> str:
        """The message's text."""
        if isinstance(self.content, str) or self.content is None:
            return self.content or ""
        texts = [part.get("text") for part in self.content if part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool | None = False


class CompletionRequest(BaseModel):
    """The body of a request; unknown fields are ignored, because the graph chooses the model's options.

    Attributes:
        model: The name that `/v1/models` lists.
        messages: The conversation, the question last; system messages are ignored.
        stream: Whether to send the answer in pieces.
        stream_options: Whether the last piece counts the tokens.
        n: Number of answers, always 1.
        context: Settings, as LangGraph's API takes them.
    """

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    model: str = MODEL
    messages: list[ChatMessage] = Field(min_length=1, max_length=1000)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=1, ge=1, le=1)
    context: JsonObject = Field(default_factory=dict)


@router.get("/models")
async def models(caller: Asker) -> JSONResponse:
    """List the one model."""
    caller.require("ask")
    return JSONResponse({"object": "list", "data": [_MODEL]})


@router.get("/models/{model}")
async def model(model: str, caller: Asker) -> JSONResponse:
    """Return the one model by its name."""
    caller.require("ask")
    return JSONResponse(_MODEL) if model == MODEL else _refuse_model(model)


@router.post("/chat/completions")
async def complete(body: CompletionRequest, caller: Asker, services: Serving, http: Request) -> Response:
    """Answer the last question of a conversation, and store nothing."""
    caller.require("ask")
    if body.model != MODEL:
        return _refuse_model(body.model)
    messages = [each for each in body.messages if each.role in ("user", "assistant") and each.text]
    given = {"messages": [{"role": each.role, "content": each.text} for each in messages]}
    request = RunRequest(input=given, context=body.context, stream_mode=("custom",), stream_subgraphs=True)
    request.check(list(services.graphs))
    run = await services.accept(caller, request, None)
    if body.stream:
        tells_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        pieces = _pieces(services, run, tells_usage=tells_usage)
        return StreamingResponse(pieces, media_type="text/event-stream", headers=STREAM_HEADERS)
    await services.wait_for_run(run, http)
    outcome = await services.read_outcome(run)
    if "error" in outcome:
        return JSONResponse({"error": _error(outcome["error"])}, _status(outcome["error"]))
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message_of(outcome["values"])}}
    return JSONResponse(_frame(run, "chat.completion", choice) | {"usage": _usage(outcome["values"])})


def _refuse_model(name: str) -> JSONResponse:
    """Return the reply of OpenAI's API to a model that it does not have."""
    message = f"There is no model {name[:80]!r}. This server has the model {MODEL!r}."
    error = {"message": message, "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    return JSONResponse({"error": error}, 404)


async def _pieces(services: Services, run: RunRecord, *, tells_usage: bool) -> AsyncIterator[str]:
    """Yield the steps as they begin, then the answer."""
    async with services.cancel_on_disconnect(run):
        yield _line(_frame(run, "chat.completion.chunk", _delta({"role": "assistant", "content": ""})))
        async for event in services.events.read(run.run_id):
            if event is None:
                yield ": waiting\n\n"
            # The search's own steps come under the name of its subgraph.
            elif event.name.startswith("custom") and (step := json.loads(event.data)).get("status") == "started":
                delta = {"reasoning_content": f"{step['step']}\n"}
                yield _line(_frame(run, "chat.completion.chunk", _delta(delta)))
    outcome = await services.read_outcome(run)
    if "error" in outcome:
        yield _line({"error": _error(outcome["error"])})
    else:
        yield _line(_frame(run, "chat.completion.chunk", _delta(message_of(outcome["values"]))))
        yield _line(_frame(run, "chat.completion.chunk", _delta({}, "stop")))
        if tells_usage:
            yield _line(_frame(run, "chat.completion.chunk") | {"usage": _usage(outcome["values"])})
    yield "data: [DONE]\n\n"


def message_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an answer with its sources below it, and the sources as OpenAI's annotations.

    Both, because many programs show no annotations. An answer composed of passages names its sources in the text.
    """
    answer, citations = str(state.get("answer", "")), state.get("citations") or []
    # One passage may span several pages and sections; each is named once.
    ordered = sorted(citations, key=lambda each: each["marker"])
    is_composed = (state.get("route") or {}).get("name") == "compose"
    named = [] if is_composed else [f"[{each['marker']}] {escape_marks(title_of(each))}" for each in ordered]
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
        for each, place in locate_markers(answer, citations)
        if place is not None
    ]
    narrowed = escape_marks(make_plain(state.get("inferred_filter", "")))
    only = f"Searched only: {narrowed} (`infer_filter: false` searches all)." if narrowed else ""
    doubts = "\n".join(map(escape_marks, unconfirmed_lines(state.get("status", ""), state.get("unconfirmed") or [])))
    return {"content": "\n\n".join(filter(None, (answer, sources, only, doubts))), "annotations": annotations}


def _usage(state: Mapping[str, Any]) -> dict[str, int]:
    usage = state.get("usage") or {}
    sent, written = usage.get("prompt_tokens", 0), usage.get("output_tokens", 0)
    return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}


def _error(error: Mapping[str, Any]) -> dict[str, Any]:
    return {"message": error.get("message", ""), "type": error.get("error", "error"), "param": None, "code": None}


def _status(error: Mapping[str, Any]) -> int:
    """Return the status of a failed run: programs retry the 5xx of a server or a model."""
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

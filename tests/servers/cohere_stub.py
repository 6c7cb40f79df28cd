"""A server that speaks Cohere's v2 endpoints on 127.0.0.1: chat by script, rerank by the query's terms in a document.

In a test: `with CohereStub(script) as stub: cohere.AsyncClientV2("key", base_url=stub.base_url)`. The script is
played for chat; for rerank it matters only where its reply fails or is late, otherwise the documents are scored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from tests.servers.calls import Request
from tests.servers.loopback import ScriptedStub
from tests.servers.scripts import Reply, Script


class CohereStub(ScriptedStub):
    """Keeps its calls like the OpenAI stub; a request's query and documents are in `request.body`."""

    paths: ClassVar = {"/v2/rerank": "rerank", "/v2/chat": "chat"}

    def __init__(self, script: Script | Reply | str = "", *, port: int = 0, log: Path | None = None) -> None:
        super().__init__(script, port=port, log=log)

    @property
    def base_url(self) -> str:
        """What a client takes as its base url."""
        return self.url

    def refuse(self, request: Request) -> str | None:
        if request.kind == "chat":
            return None if request.messages else "invalid request: messages must not be empty"
        if not request.body.get("documents"):
            return "invalid request: list of documents must not be empty"
        return None if request.body.get("query") else "invalid request: query must not be empty"

    def error(self, reply: Reply) -> dict[str, Any]:
        return {"id": "stub", "message": reply.text}

    def compose(self, request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
        if request.kind == "chat":
            return _chat(request, reply)
        scores = [overlap(request.body["query"], document) for document in request.body["documents"]]
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))[: request.body.get("top_n")]
        return {
            "id": f"rerank-{request.number}",
            "results": [{"index": index, "relevance_score": scores[index]} for index in order],
            "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
        }


def _chat(request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
    """Keep to `max_tokens`, counting words as tokens."""
    words = re.findall(r"\S+\s*|\s+", reply.text)
    said = words[: request.body.get("max_tokens", len(words))]
    ended = {
        "finish_reason": "COMPLETE" if len(said) == len(words) else "MAX_TOKENS",
        "usage": {key: {"input_tokens": 5, "output_tokens": len(said)} for key in ("billed_units", "tokens")},
    }
    if not request.stream:
        content = [{"type": "text", "text": "".join(said)}]
        return {"id": f"chat-{request.number}", "message": {"role": "assistant", "content": content}, **ended}
    deltas = [{"message": {"content": {"text": word}}} for word in said]
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": f"chat-{request.number}", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
        *({"type": "content-delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": ended},
    ]
    return iter([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])


def overlap(query: str, document: str) -> float:
    """Return the share of the query's distinct terms that the document has, from 0 to 1."""
    terms, found = (set(re.findall(r"\w+", text.lower())) for text in (query, document))
    return len(terms & found) / len(terms) if terms else 0.0

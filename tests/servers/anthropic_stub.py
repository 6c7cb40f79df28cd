"""A scripted server that speaks Anthropic's messages endpoint on 127.0.0.1.

In a test: `with AnthropicStub(script) as stub: ChatAnthropic(base_url=stub.url, ...)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.servers.calls import Request
from tests.servers.loopback import ScriptedStub
from tests.servers.scripts import Reply

CITES = re.compile(r"\{(\d+)\}")
"""In a scripted reply, `{0}` ends a block that cites the first document of the request."""


class AnthropicStub(ScriptedStub):
    """Keeps to `max_tokens`, counting words as tokens."""

    paths: ClassVar = {"/v1/messages": "chat"}

    def refuse(self, request: Request) -> str | None:
        return None if request.messages and request.body.get("max_tokens") else "messages and max_tokens are required"

    def error(self, reply: Reply) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "stub_error", "message": reply.text}}

    def compose(self, request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
        blocks = _blocks(request, reply.text)
        said = _words("".join(block["text"] for block in blocks))
        reason = "end_turn" if len(said) <= request.body["max_tokens"] else "max_tokens"
        if reason == "max_tokens":
            said = said[: request.body["max_tokens"]]
            blocks = [{"type": "text", "text": "".join(said)}]
        whole = {
            "id": f"msg_{request.number}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": blocks,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": len(said)},
        }
        return _events(whole) if request.stream else whole


def documents_of(request: Request) -> list[dict[str, Any]]:
    """Return the documents of a request."""
    contents = [message["content"] for message in request.messages if isinstance(message["content"], list)]
    return [block for content in contents for block in content if block["type"] == "document"]


def _blocks(request: Request, text: str) -> list[dict[str, Any]]:
    """Return a reply as blocks of text, those that cite with what they cite as the API gives it."""
    documents = documents_of(request)
    if not documents:
        return [{"type": "text", "text": text}]
    *cited, last = CITES.split(text)
    blocks = [
        {"type": "text", "text": piece, "citations": [_citation(documents, int(place))]}
        for piece, place in zip(cited[::2], cited[1::2], strict=True)
    ]
    return [*blocks, {"type": "text", "text": last}] if last else blocks


def _citation(documents: list[dict[str, Any]], place: int) -> dict[str, Any]:
    assert documents[place]["citations"] == {"enabled": True}
    words = documents[place]["source"]["data"]
    return {
        "type": "char_location",
        "cited_text": words[:20],
        "document_index": place,
        "document_title": documents[place].get("title"),
        "start_char_index": 0,
        "end_char_index": len(words[:20]),
    }


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _events(whole: dict[str, Any]) -> Iterator[bytes]:
    begun = whole | {"content": [], "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 0}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(whole["content"]):
        texts = [{"type": "text_delta", "text": word} for word in _words(block["text"])]
        cited = [{"type": "citations_delta", "citation": each} for each in block.get("citations", ())]
        begins = {"type": "text", "text": ""} | ({"citations": []} if cited else {})
        events += [
            {"type": "content_block_start", "index": index, "content_block": begins},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in [*texts, *cited]),
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": whole["usage"]["output_tokens"]}},
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

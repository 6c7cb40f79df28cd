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


class AnthropicStub(ScriptedStub):
    """Keeps to `max_tokens`, counting words as tokens."""

    paths: ClassVar = {"/v1/messages": "chat"}

    def refuse(self, request: Request) -> str | None:
        return None if request.messages and request.body.get("max_tokens") else "messages and max_tokens are required"

    def error(self, reply: Reply) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "stub_error", "message": reply.text}}

    def compose(self, request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
        words = re.findall(r"\S+\s*|\s+", reply.text)
        said = words[: request.body["max_tokens"]]
        reason = "end_turn" if len(said) == len(words) else "max_tokens"
        whole = {
            "id": f"msg_{request.number}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": [{"type": "text", "text": "".join(said)}],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": len(said)},
        }
        return _events(whole, said) if request.stream else whole


def _events(whole: dict[str, Any], said: list[str]) -> Iterator[bytes]:
    begun = whole | {"content": [], "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 0}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}} for word in said),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": len(said)},
        },
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

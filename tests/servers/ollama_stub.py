"""A scripted server that speaks Ollama's own chat protocol on 127.0.0.1: one JSON object a line.

In a test: `with OllamaStub(script) as stub: ChatOllama(base_url=stub.url, ...)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.servers.calls import Request
from tests.servers.loopback import ScriptedStub
from tests.servers.scripts import Reply


class OllamaStub(ScriptedStub):
    """Keeps to `options.num_predict`, counting words as tokens."""

    paths: ClassVar = {"/api/chat": "chat"}

    def refuse(self, request: Request) -> str | None:
        return None if request.messages else "messages must not be empty"

    def error(self, reply: Reply) -> dict[str, Any]:
        return {"error": reply.text}

    def compose(self, request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
        words = re.findall(r"\S+\s*|\s+", reply.text)
        most = (request.body.get("options") or {}).get("num_predict", len(words))
        said = words[:most]
        end = {
            "done": True,
            "done_reason": "stop" if len(said) == len(words) else "length",
            "prompt_eval_count": 5,
            "eval_count": len(said),
        }
        if request.body.get("stream"):
            frames = [*(_frame(request, word) for word in said), _frame(request, "") | end]
            return iter([json.dumps(frame).encode() + b"\n" for frame in frames])
        return _frame(request, "".join(said)) | end


def _frame(request: Request, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"model": request.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False}

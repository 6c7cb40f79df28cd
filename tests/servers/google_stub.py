"""A scripted server that speaks Google's generateContent endpoints on 127.0.0.1, for the model called `stub`.

In a test: `with GoogleStub(script) as stub: ChatGoogleGenerativeAI(model="stub", base_url=stub.url, ...)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.servers.calls import Request
from tests.servers.loopback import ScriptedStub
from tests.servers.scripts import Reply

_PATH = "/v1beta/models/stub:"


class GoogleStub(ScriptedStub):
    """Keeps to `maxOutputTokens`, counting words as tokens; which path was asked says whether it streams."""

    paths: ClassVar = {f"{_PATH}generateContent": "chat", f"{_PATH}streamGenerateContent?alt=sse": "stream"}

    def refuse(self, request: Request) -> str | None:
        return None if request.body.get("contents") else "contents is not specified"

    def error(self, reply: Reply) -> dict[str, Any]:
        return {"error": {"code": reply.status, "message": reply.text, "status": "STUB_ERROR"}}

    def compose(self, request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
        words = re.findall(r"\S+\s*|\s+", reply.text)
        said = words[: (request.body.get("generationConfig") or {}).get("maxOutputTokens", len(words))]
        reason = "STOP" if len(said) == len(words) else "MAX_TOKENS"
        if request.kind == "chat":
            return _frame("".join(said), len(said), reason)
        frames = [*(_frame(word, number) for number, word in enumerate(said, 1)), _frame("", len(said), reason)]
        return iter([b"data: " + json.dumps(frame).encode() + b"\r\n\r\n" for frame in frames])


def _frame(text: str, tokens: int, reason: str | None = None) -> dict[str, Any]:
    candidate = {"index": 0, "content": {"role": "model", "parts": [{"text": text}] if text else []}}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": tokens, "totalTokenCount": 5 + tokens}
    ended = {"finishReason": reason} if reason else {}
    return {"candidates": [candidate | ended], "usageMetadata": usage, "modelVersion": "stub"}

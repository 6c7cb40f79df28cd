"""A scripted server that speaks OpenAI's chat completions, embeddings and models endpoints on 127.0.0.1.

In a test: `with OpenAIStub(script) as stub: ChatOpenAI(base_url=stub.base_url, ...)`. As a process of its own, which
prints the base url and ends with its parent:
`python -m tests.servers.openai_stub --port 0 --script tests.servers.scripts:echo --log calls.jsonl`;
`read_log(Path("calls.jsonl"))` is its log.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib
import itertools
import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tests.servers.calls import Request, text_of
from tests.servers.loopback import ScriptedStub
from tests.servers.scripts import Reply, Script, as_script, echo

DIMENSION = 64
ALONE, TOGETHER = 16, 16
"""Words that a stream sends one by one, and how many it sends at a time from then on: each piece takes every layer of a
client the same work, and after some there is nothing new in one more."""


class OpenAIStub(ScriptedStub):
    """Plays `script` for chat calls and `embedding` for embedding calls, whose reply matters only when it fails."""

    paths: ClassVar = {"/v1/chat/completions": "chat", "/v1/embeddings": "embedding"}

    def __init__(
        self,
        script: Script | Reply | str = echo,
        *,
        embedding: Script | Reply | str = "",
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        by_kind = {"chat": as_script(script), "embedding": as_script(embedding)}
        super().__init__(lambda request: by_kind[request.kind](request), port=port, log=log)

    @property
    def base_url(self) -> str:
        """What a client takes as its base url."""
        return f"{self.url}/v1"

    def listing(self, path: str) -> dict[str, Any] | None:
        model = {"id": "stub", "object": "model", "created": 0, "owned_by": "tests"}
        return {"object": "list", "data": [model]} if path == "/v1/models" else None

    def refuse(self, request: Request) -> str | None:
        if request.kind == "chat":
            return None if request.messages else "[] is too short - 'messages'"
        given = request.body.get("input")
        return None if given and all(len(each) > 0 for each in given if not isinstance(each, int)) else "invalid input"

    def error(self, reply: Reply) -> dict[str, Any]:
        return {"error": {"message": reply.text, "type": "stub_error", "param": None, "code": None}}

    def compose(self, request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
        if request.kind == "embedding":
            return _embeddings(request)
        return _events(request, reply) if request.stream else _completion(request, reply)


def _completion(request: Request, reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": None}
    told = _logprobs(reply.chances) if reply.chances and request.body.get("logprobs") else None
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": told}
    return _frame(request, "chat.completion", [choice]) | {"usage": _usage(request, reply)}


def _logprobs(chances: Mapping[str, float]) -> dict[str, Any]:
    top = [{"token": word, "logprob": math.log(chance), "bytes": None} for word, chance in chances.items()]
    return {"content": [{**top[0], "top_logprobs": top}], "refusal": None}


def _events(request: Request, reply: Reply) -> Iterator[bytes]:
    """Stream by word at first; the pieces put together are the text, byte for byte."""
    for frame in _chunks(request, reply):
        yield f"data: {json.dumps(frame)}\n\n".encode()
    yield b"data: [DONE]\n\n"


def _chunks(request: Request, reply: Reply) -> Iterator[dict[str, Any]]:
    words: Sequence[str] = re.findall(r"\S+\s*|\s+", reply.text)
    words = words[: len(words) // 2] if reply.cut else words
    sent = itertools.cycle(words) if reply.endless else words if reply.chunk_delay else _pieces(words)
    for delta in itertools.chain([{"role": "assistant", "content": ""}], ({"content": piece} for piece in sent)):
        yield _frame(request, "chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": None}])
    if reply.cut:
        return
    yield _frame(request, "chat.completion.chunk", [{"index": 0, "delta": {}, "finish_reason": "stop"}])
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield _frame(request, "chat.completion.chunk", []) | {"usage": _usage(request, reply)}


def _pieces(words: Sequence[str]) -> Iterator[str]:
    yield from words[:ALONE]
    for at in range(ALONE, len(words), TOGETHER):
        yield "".join(words[at : at + TOGETHER])


def _frame(request: Request, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    known = {"id": f"chatcmpl-{request.number}", "object": kind, "created": 0, "model": request.model}
    known["system_fingerprint"] = None
    return known | {"choices": choices}


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    """Count words as tokens."""
    prompt = sum(len(text_of(message).split()) for message in request.messages)
    completion = len(reply.text.split())
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _embeddings(request: Request) -> dict[str, Any]:
    given = request.body["input"]
    texts = [given] if isinstance(given, str) or isinstance(given[0], int) else given
    vectors = [embed(text, request.body.get("dimensions") or DIMENSION) for text in texts]
    packed = request.body.get("encoding_format") == "base64"
    found = [
        {"object": "embedding", "index": index, "embedding": _base64(vector) if packed else vector.tolist()}
        for index, vector in enumerate(vectors)
    ]
    return {"object": "list", "data": found, "model": request.model, "usage": {"prompt_tokens": 0, "total_tokens": 0}}


def embed(text: str | Sequence[int], dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Return a unit vector: the sum of one fixed random direction per word (or token id), so shared words are near."""
    words = re.findall(r"\w+", text.lower()) if isinstance(text, str) else [str(token) for token in text]
    total = np.array([_direction(word, dimension) for word in words or [""]]).sum(axis=0)
    return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension)


def _base64(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def main() -> None:
    """Serve until the parent process is gone, so that a killed test run leaves nothing behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", default="tests.servers.scripts:echo", help="module:name")
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    module, _, name = options.script.partition(":")
    script = getattr(importlib.import_module(module), name)
    parent = os.getppid()
    with OpenAIStub(script, port=options.port, log=options.log) as stub:
        print(stub.base_url, flush=True)
        while os.getppid() == parent:
            time.sleep(0.2)


if __name__ == "__main__":
    main()

"""The model server: chat completions over HTTP in a process of its own, with the time that a hosted model takes.

`python -m benchmarks.answering.server CALLS.jsonl` prints its address and ends with its parent. A reply begins after a
fixed time and grows by one token at a fixed pace, streamed or not. A call is a line of CALLS.jsonl once it has ended.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.answering.model import pieces, reply, texts, tokens

LATENCY = 0.2
PER_TOKEN = 0.008
BATCH_SECONDS = 20.0
"""That a batch of relevances waits for the others at most, where it waits at all."""


class Model:
    """Answers, and writes down when and how much."""

    def __init__(self, log: TextIO, latency: float, per_token: float, batches: int = 0) -> None:
        """Take the seconds before the first token and from each token to the next.

        With `batches`, relevances are told once so many such calls wait for them: calls at once are counted as such
        even where the latency is shorter than the time that a busy machine takes to make the next call.
        """
        self._log, self._latency, self._per_token = log, latency, per_token
        self._batches, self._waiting, self._changed = batches, 0, asyncio.Condition()

    async def complete(self, request: Request) -> Response:
        """Answer one request."""
        began = time.monotonic()
        body = await request.json()
        text = reply(body["messages"])
        said = sum(tokens(each) for _, each in texts(body["messages"]))
        call = {"began": began, "prompt": said, "output": tokens(text)}
        if self._batches and text.startswith("Doc: "):
            await self._others()
        if body.get("stream"):
            with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
            return StreamingResponse(self._stream(text, call, with_usage), media_type="text/event-stream")
        await asyncio.sleep(began + self._due(call["output"]) - time.monotonic())
        self._tell(call)
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return JSONResponse(_frame("chat.completion", [choice]) | {"usage": _usage(call)})

    async def _others(self) -> None:
        """Wait for the batches that belong to this one; who sends one after the other waits in vain, and is seen."""
        async with self._changed:
            self._waiting += 1
            end = -(-self._waiting // self._batches) * self._batches
            self._changed.notify_all()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait_for(lambda: self._waiting >= end), BATCH_SECONDS)

    def _due(self, token: float) -> float:
        return self._latency + self._per_token * token

    async def _stream(self, text: str, call: dict[str, Any], with_usage: bool) -> AsyncIterator[bytes]:
        # Each token at its own time after the beginning: being late for one does not delay the next.
        for number, frame in enumerate(_deltas(text)):
            await asyncio.sleep(max(0.0, call["began"] + self._due(number) - time.monotonic()))
            yield _event(frame)
        self._tell(call)
        yield _event(_frame("chat.completion.chunk", [{"index": 0, "delta": {}, "finish_reason": "stop"}]))
        if with_usage:
            yield _event(_frame("chat.completion.chunk", []) | {"usage": _usage(call)})
        yield b"data: [DONE]\n\n"

    def _tell(self, call: dict[str, Any]) -> None:
        self._log.write(json.dumps({**call, "ended": time.monotonic()}) + "\n")
        self._log.flush()


def _deltas(text: str) -> Iterator[dict[str, Any]]:
    yield _frame("chat.completion.chunk", [_delta({"role": "assistant", "content": ""})])
    for piece in pieces(text):
        yield _frame("chat.completion.chunk", [_delta({"content": piece})])


def _delta(delta: dict[str, str]) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": None}


def _frame(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": "stub", "choices": choices}


def _usage(call: dict[str, Any]) -> dict[str, int]:
    prompt, output = call["prompt"], call["output"]
    return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}


def _event(frame: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(frame)}\n\n".encode()


async def serve(log: Path, latency: float, per_token: float, batches: int = 0) -> None:
    """Serve until the parent process is gone."""
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it, the second packet of a reply waits
    # 40 ms for an answer to the first.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with log.open("a", encoding="utf-8") as file, listener as listening:
        listening.bind(("127.0.0.1", 0))
        model = Model(file, latency, per_token, batches)
        app = Starlette(routes=[Route("/v1/chat/completions", model.complete, methods=["POST"])])
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=300))
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", flush=True)
        watching = asyncio.create_task(_until_orphaned(server, os.getppid()))
        await server.serve(sockets=[listening])
        watching.cancel()


async def _until_orphaned(server: uvicorn.Server, parent: int) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110  # a parent that is killed sets no event
        await asyncio.sleep(0.2)
    server.should_exit = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--latency", type=float, default=LATENCY)
    parser.add_argument("--per-token", type=float, default=PER_TOKEN)
    parser.add_argument("--batches", type=int, default=0, help="wait for so many batches of relevances")
    options = parser.parse_args()
    asyncio.run(serve(options.log, options.latency, options.per_token, options.batches))


if __name__ == "__main__":
    main()

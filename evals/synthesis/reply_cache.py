"""An OpenAI-compatible server in front of another that keeps each reply: the same prompt is answered once.

    python -m evals.synthesis.reply_cache --port 18183 --upstream http://127.0.0.1:18182 --file replies.jsonl

One core reads some thirty tokens of a prompt a second; replies at temperature 0 that are kept cost nothing in a later
run. The file is of one model: its name is no part of the key.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import threading
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PATIENCE = 3600.0
CHAT = "/chat/completions"
_DECIDE = ("messages", "temperature", "response_format", "tools", "tool_choice", "stop", "seed")
"""Fields of a request on which its reply depends, beside the most tokens it may have."""


_NONCE = re.compile(r"(?<=-)[0-9a-f]{16}\b")


def key_of(request: dict[str, Any]) -> str:
    """Return a hash of what decides the reply: whether it is streamed does not."""
    decides = {name: request.get(name) for name in _DECIDE}
    decides["temperature"] = float(request.get("temperature") or 0)
    decides["max_tokens"] = request.get("max_tokens") or request.get("max_completion_tokens")
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def without_nonces(request: str) -> tuple[str, dict[str, str]]:
    """Replace what is drawn anew for every prompt, so that the same passages make the same prompt.

    Returns:
        The request, and what was drawn by what stands there now.
    """
    drawn = {
        hashlib.sha256(str(place).encode()).hexdigest()[:16]: nonce
        for place, nonce in enumerate(dict.fromkeys(_NONCE.findall(request)))
    }
    for fixed, nonce in drawn.items():
        request = request.replace(nonce, fixed)
    return request, drawn


class ReplyFile:
    """Replies by what was asked, in a file of one JSON object a line: `request` and `reply`."""

    def __init__(self, file: Path) -> None:
        """Read what is kept; a last line that was cut off is left out."""
        self._file, self._lock = file, threading.Lock()
        self._replies: dict[str, dict[str, Any]] = {}
        for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            self._replies[key_of(record["request"])] = record["reply"]

    def get(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the reply that was kept."""
        return self._replies.get(key_of(request))

    def keep(self, request: dict[str, Any], reply: dict[str, Any]) -> None:
        """Add a reply, to the file too."""
        line = json.dumps({"request": request, "reply": reply}, ensure_ascii=False)
        with self._lock, self._file.open("a", encoding="utf-8") as out:
            out.write(line + "\n")
            self._replies[key_of(request)] = reply


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken of a model, replies that were kept among it."""

    calls: int
    prompt_tokens: int
    output_tokens: int


class ReplyCache(ThreadingHTTPServer):
    """The server: `taken` is what its clients took so far, `asked` how many requests went upstream.

    Args:
        upstream: Address of the server that has the model, without `/v1`.
        file: Where replies are kept.
        port: On 127.0.0.1; 0 takes a free one.
    """

    daemon_threads = True

    def __init__(self, upstream: str, file: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.upstream = upstream.rstrip("/").removesuffix("/v1")
        self.replies = ReplyFile(file)
        self.taken, self.asked = Taken(0, 0, 0), 0
        # Two that ask the same at once: the second waits for the reply to the first.
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._counting = threading.Lock()

    @property
    def base_url(self) -> str:
        """Address for a client."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answered(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the kept reply, or ask upstream and keep it.

        Raises:
            urllib.error.HTTPError: Upstream refuses; nothing is kept.
        """
        body, drawn = without_nonces(json.dumps(request))
        whole = {name: value for name, value in json.loads(body).items() if name not in ("stream", "stream_options")}
        with self._locks[key_of(whole)]:
            reply = self.replies.get(whole)
            if reply is None:
                self.asked += 1
                reply = json.loads(self.forward("POST", path, json.dumps(whole).encode()))
                self.replies.keep(whole, reply)
        self._count(reply)
        text = json.dumps(reply)
        for fixed, nonce in drawn.items():
            text = text.replace(fixed, nonce)
        found: dict[str, Any] = json.loads(text)
        return found

    def _count(self, reply: dict[str, Any]) -> None:
        usage = reply.get("usage") or {}
        with self._counting:
            self.taken = Taken(
                self.taken.calls + 1,
                self.taken.prompt_tokens + usage.get("prompt_tokens", 0),
                self.taken.output_tokens + usage.get("completion_tokens", 0),
            )

    def start(self) -> None:
        """Serve in a thread of its own, until `shutdown`."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def forward(self, method: str, path: str, body: bytes | None) -> bytes:
        """Ask upstream."""
        request = urllib.request.Request(  # noqa: S310  # the address is the user's own
            f"{self.upstream}{path}", body, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:  # noqa: S310
            found: bytes = reply.read()
            return found


class _Handler(BaseHTTPRequestHandler):
    """Speaks HTTP/1.0: each connection ends with its reply, and clients are left with none that is open."""

    server: ReplyCache

    def do_GET(self) -> None:
        self._answer("GET", None)

    def do_POST(self) -> None:
        self._answer("POST", self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, method: str, body: bytes | None) -> None:
        try:
            if body is None or not self.path.endswith(CHAT):
                return self._send(200, "application/json", self.server.forward(method, self.path, body))
            request = json.loads(body)
            reply = self.server.answered(self.path, request)
        except urllib.error.HTTPError as error:
            return self._send(error.code, "application/json", error.read())
        except (OSError, ValueError) as error:
            return self._send(502, "application/json", json.dumps({"error": {"message": str(error)}}).encode())
        if not request.get("stream"):
            return self._send(200, "application/json", json.dumps(reply).encode())
        usage = bool((request.get("stream_options") or {}).get("include_usage"))
        events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks(reply, usage=usage)]
        return self._send(200, "text/event-stream", "".join([*events, "data: [DONE]\n\n"]).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        # Who did not wait for the reply finds it kept.
        with suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the base class
        """Say nothing."""


def chunks(reply: dict[str, Any], *, usage: bool) -> Iterator[dict[str, Any]]:
    """Turn a whole reply into the chunks of a stream: the message, why it ended, and what it took."""
    head = {**{name: reply.get(name) for name in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    [choice] = reply["choices"]
    message = {name: value for name, value in choice["message"].items() if value is not None}
    if calls := message.get("tool_calls"):
        message["tool_calls"] = [{"index": place, **call} for place, call in enumerate(calls)]
    for delta, reason in ((message, None), ({}, choice["finish_reason"])):
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    if usage:
        yield {**head, "choices": [], "usage": reply["usage"]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until it is interrupted."""
    parser = argparse.ArgumentParser(prog="python -m evals.synthesis.reply_cache", description=__doc__)
    parser.add_argument("--upstream", required=True, help="address of the server that has the model")
    parser.add_argument("--file", type=Path, required=True, help="where replies are kept")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args(arguments)
    with ReplyCache(options.upstream, options.file, options.port) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()  # a program may wait for this line
        server.serve_forever()


if __name__ == "__main__":
    main()

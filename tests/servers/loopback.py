"""An HTTP server on 127.0.0.1 that plays scripted replies, good and bad; what the stubs of each API have in common."""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any, ClassVar, Self, cast

from tests.servers.calls import Call, CallLog, Request
from tests.servers.scripts import Reply, Script, as_script


class ClientGoneError(Exception):
    """The client closed its end, or the stub is closing."""


class ScriptedStub(ABC, CallLog):
    """A server for the length of a `with` block; leaving it raises what a script (or the stub itself) raised."""

    paths: ClassVar[Mapping[str, str]]  # path of a POST -> kind of the call

    def __init__(self, script: Script | Reply | str, *, port: int = 0, log: Path | None = None) -> None:
        super().__init__(log)
        self.script = as_script(script)
        self.errors: list[Exception] = []
        self._server = _Server(port, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._server.stop()
        self._thread.join()
        if kind is None and self.errors:
            raise self.errors[0]

    def listing(self, path: str) -> dict[str, Any] | None:
        """Answer a GET; none by default."""
        return None

    @abstractmethod
    def refuse(self, request: Request) -> str | None:
        """Say why the real API would answer 400 to this request, before any script is asked."""

    @abstractmethod
    def error(self, reply: Reply) -> dict[str, Any]:
        """Shape an error as this API does."""

    @abstractmethod
    def compose(self, request: Request, reply: Reply) -> dict[str, Any] | Iterator[bytes]:
        """Shape a good reply: one JSON body, or the frames of a stream."""

    def decide(self, request: Request) -> Reply:
        """Ask the script; an exception in it is the test's fault, so it is kept and not retried by clients."""
        if reason := self.refuse(request):
            return Reply(reason, status=400)
        try:
            return self.script(request)
        except Exception as error:
            self.errors.append(error)
            return Reply(f"the script raised {error!r}", status=400)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, stub: ScriptedStub) -> None:
        self.stub = stub
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        # HTTPServer's own looks the host up in DNS.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, ConnectionError):
            self.stub.errors.append(error)

    def stop(self) -> None:
        """End every conversation, those that hang included, and wait for their threads."""
        self.shutdown()
        with self._changed:
            for connection in self._open:
                with suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, timeout=60)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def stub(self) -> ScriptedStub:
        return cast("_Server", self.server).stub

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name in the base class)
        """Keep the test's output clean; the log is the stub's."""

    def do_GET(self) -> None:
        found = self.stub.listing(self.path)
        self._send(200 if found else 404, {}, found or self.stub.error(Reply(status=404)))

    def do_POST(self) -> None:
        started = time.monotonic()
        length = int(self.headers.get("Content-Length", 0))
        sent = self.rfile.read(length)
        if len(sent) < length:
            self.close_connection = True  # the client gave up while it was sending: nobody waits for a reply
            return
        body = json.loads(sent)
        kind = self.stub.paths.get(self.path)
        if kind is None:
            self._send(404, {}, self.stub.error(Reply(f"no such path: {self.path}", status=404)))
            return
        with self.stub.record(kind, body, {k.lower(): v for k, v in self.headers.items()}, started) as call:
            try:
                self._play(call, self.stub.decide(call.request))
            except (ClientGoneError, ConnectionError):
                self.stub.update(call, finished=None)
                self.close_connection = True

    def _play(self, call: Call, reply: Reply) -> None:
        self._pause(None if reply.hang else reply.delay)
        self.stub.update(call, status=reply.status)
        if reply.endless and not call.request.stream:
            self._stream(call, reply, iter(lambda: b" ", None))
            return
        content: Any = reply.raw
        if content is None:
            failed = reply.status >= 400
            content = self.stub.error(reply) if failed else self.stub.compose(call.request, reply)
        if isinstance(content, Iterator):
            self._stream(call, reply, content)
        elif reply.cut:
            self._send(reply.status, reply.headers, content, cut=True)
        else:
            self._finish(call)
            self._send(reply.status, reply.headers, content)

    def _finish(self, call: Call) -> None:
        # Noted before the last byte leaves: a client that acts on it at once must find the call finished.
        self._pause(0)
        self.stub.update(call, finished=time.monotonic())

    def _send(self, status: int, headers: Mapping[str, str], content: Any, *, cut: bool = False) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self._head(status, {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers})
        self.wfile.write(body[: len(body) // 2] if cut else body)

    def _stream(self, call: Call, reply: Reply, frames: Iterator[bytes]) -> None:
        kind = "text/event-stream" if call.request.stream else "application/json"
        self._head(reply.status, {"Content-Type": kind, "Transfer-Encoding": "chunked", **reply.headers})
        frame, following = next(frames), next(frames, None)
        while following is not None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
            self._pause(reply.chunk_delay)
            frame, following = following, next(frames, None)
        if reply.cut:
            return
        self._finish(call)
        self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(frame), frame))

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        # LangChain keeps one HTTP client per base url for the life of the process, and each test has an event loop of
        # its own: a connection that outlives its loop fails whichever later test collects it.
        self.send_header("Connection", "close")
        self.end_headers()

    def _pause(self, seconds: float | None) -> None:
        """Wait (for ever with None), and notice a client that goes away: writing to it would seem to succeed."""
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise ClientGoneError

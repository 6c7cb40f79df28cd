"""A web site on 127.0.0.1 that answers with exactly the bytes that a test wants, and an internet that leads there."""

from __future__ import annotations

import socketserver
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import httpcore

PUBLIC = "93.184.216.34"
"""Of example.org once; a public address like any other."""

Answer = bytes | Callable[[], Iterable[bytes]]


def page(body: bytes | str, kind: str = "text/html; charset=utf-8", *more: str, status: str = "200 OK") -> bytes:
    """Return a whole response."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *more]
    return "\r\n".join([*lines, "", ""]).encode() + data


def leads_to(target: str, status: str = "302 FoundFile") -> bytes:
    return page("elsewhere", "text/plain", f"Location: {target}", status=status)


class Site:
    """Answers by path; `requests` are the heads that came in."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.requests: list[str] = []
        self.over = threading.Event()
        site = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with suppress(OSError):  # the client has had enough, of the handshake already or later
                    self.answer()

            def answer(self) -> None:
                head = b""
                while not head.endswith(b"\r\n\r\n") and (line := self.rfile.readline(65536)):
                    head += line
                site.requests.append(head.decode("latin-1"))
                path = head.decode("latin-1").split(" ")[1:2]
                answer = site.answers.get("".join(path), b"")
                for piece in [answer] if isinstance(answer, bytes) else answer():
                    self.wfile.write(piece)
                    if site.over.is_set():
                        return

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port: int = self.server.server_address[1]

    def header(self, name: str, request: int = -1) -> str | None:
        lines = self.requests[request].split("\r\n")[1:]
        return next((line.split(": ", 1)[1] for line in lines if line.lower().startswith(f"{name.lower()}:")), None)


@contextmanager
def serving(answers: Mapping[str, Answer]) -> Iterator[Site]:
    site = Site(answers)
    thread = threading.Thread(target=site.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.over.set()
        site.server.shutdown()
        site.server.server_close()
        thread.join()


class Internet(httpcore.SyncBackend):
    """Leads every address to one site, or nowhere; `dialled` are the addresses that were to be connected to."""

    def __init__(self, site: Site | None, dead: Sequence[str] = ()) -> None:
        self.site = site
        self.dead = dead
        self.dialled: list[tuple[str, int]] = []

    def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:
        self.dialled.append((host, port))
        if self.site is None or host in self.dead:
            raise httpcore.ConnectError("nobody there")
        return super().connect_tcp("127.0.0.1", self.site.port, *args, **kwargs)


class Trusting(Internet):
    """Speaks no TLS where it should; `shaken` are the names in the handshakes, `contexts` what would check them."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.shaken: list[str | None] = []
        self.contexts: list[ssl.SSLContext] = []

    def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, *args, **kwargs)

        def start_tls(
            ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
        ) -> httpcore.NetworkStream:
            self.contexts.append(ssl_context)
            self.shaken.append(server_hostname)
            return stream

        stream.start_tls = start_tls  # type: ignore[method-assign]
        return stream


class Names:
    """A name server; `asked` are the names that were looked up."""

    def __init__(self, **addresses: Sequence[str] | str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        if ":" in host or host.replace(".", "").isdigit():
            return [host]
        found = self.addresses.get(host.replace(".", "_").replace("-", "_"))
        if found is None:
            raise OSError(f"no such name: {host}")
        return [found] if isinstance(found, str) else list(found)

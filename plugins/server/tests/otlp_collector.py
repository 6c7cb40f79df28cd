"""A collector of OpenTelemetry's on 127.0.0.1 that keeps what it is sent, byte by byte."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class OtlpCollector:
    """What came, by its path."""

    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[tuple[str, bytes]] = []

    @property
    def spans(self) -> list[Span]:
        found = []
        for path, body in list(self.bodies):
            if path == "/v1/traces":
                sent = ExportTraceServiceRequest.FromString(body)
                found += [span for each in sent.resource_spans for scope in each.scope_spans for span in scope.spans]
        return found


@contextmanager
def collecting() -> Iterator[OtlpCollector]:
    collector = OtlpCollector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()

"""The hosted embedder, against a server of our own on the loopback."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from anabranch.errors import MissingKeyError, ModelError, RequestRefusedError, SettingsError
from anabranch.models.openai_embedding import OpenAIEmbedder

pytestmark = [pytest.mark.loopback, pytest.mark.enable_socket]


class Server(ThreadingHTTPServer):
    """Answers `/embeddings` with [length of the text, 1, 2], or with the status it was told."""

    daemon_threads = True
    status = 200
    faults: list[int]
    requests: list[dict[str, Any]]
    keys: list[str]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.keys.append(self.headers["Authorization"])
        status = self.server.faults.pop() if self.server.faults else self.server.status
        reply = {"error": {"message": "no such luck"}} if status != 200 else self._vectors(body)
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Retry-After-Ms", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _vectors(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = [[float(len(text)), 1.0, 2.0] for text in body["input"]]
        if body.get("encoding_format") == "base64":
            rows = [base64.b64encode(np.asarray(row, dtype="<f4").tobytes()).decode() for row in rows]  # type: ignore[misc]
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("ANABRANCH_BASE_URL_KEY", raising=False)
    found = Server(("127.0.0.1", 0), Handler)
    found.requests, found.keys, found.faults = [], [], []
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def embedder_at(server: Server) -> OpenAIEmbedder:
    return OpenAIEmbedder("some-model", f"http://127.0.0.1:{server.server_port}/v1")


def test_rows_are_unit_vectors_in_order(server: Server) -> None:
    embedder = embedder_at(server)
    vectors = embedder.embed(["a", "bbb", ""])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [1, 3, 1], atol=1e-5)
    assert embedder.dimension == 3
    assert embedder.embed([]).shape == (0, 3)
    assert embedder.name == "openai:some-model"


def test_the_openai_key_does_not_follow_to_another_server(server: Server) -> None:
    embedder_at(server).embed(["a"])
    assert server.keys == ["Bearer not-needed"]


def test_many_texts_are_sent_in_batches(server: Server) -> None:
    assert embedder_at(server).embed(["x"] * 600).shape == (600, 3)
    assert [len(request["input"]) for request in server.requests] == [256, 256, 88]


def test_no_request_is_larger_than_the_protocol_takes(server: Server) -> None:
    texts = ["weir " * 3_000, "堰" * 9_000, *["mill " * 1_000] * 70]
    assert embedder_at(server).embed(texts).shape == (72, 3)
    sent = [request["input"] for request in server.requests]
    assert [len(batch) for batch in sent] == [58, 14]
    assert max(len(text.encode()) for batch in sent for text in batch) == 10_000
    assert all(sum(len(text.encode()) for text in batch) <= 300_000 for batch in sent)


def test_what_is_no_text_is_never_sent(server: Server) -> None:
    assert embedder_at(server).embed(["", " \n", "\u3000", "\ud800 lone"]).shape == (4, 3)
    assert server.requests[0]["input"] == [".", ".", ".", "? lone"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_tried_again(server: Server, status: int) -> None:
    server.faults = [status]
    assert embedder_at(server).embed(["a"]).shape == (1, 3)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, MissingKeyError), (403, MissingKeyError), (404, SettingsError), (400, RequestRefusedError)],
)
def test_a_refusal_says_who_can_mend_it(server: Server, status: int, error: type[Exception]) -> None:
    server.status = status
    with pytest.raises(error, match=str(status)):
        embedder_at(server).embed(["a"])


def test_a_server_that_is_down_is_a_model_error(server: Server) -> None:
    embedder = OpenAIEmbedder("some-model", "http://127.0.0.1:9/v1", timeout=2)
    with pytest.raises(ModelError, match="openai:some-model"):
        embedder.embed(["a"])


def test_counting_needs_no_server(server: Server) -> None:
    embedder = embedder_at(server)
    assert embedder.count(["two words"]) == [2]
    assert embedder.offsets("two words") == [(0, 3), (4, 9)]
    assert server.requests == []

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from anabranch.cli.model_hint import written_answer_hint
from anabranch.models import local_servers
from anabranch.models.local_servers import LocalServer


async def test_without_a_server_on_this_machine_it_is_said_what_to_start() -> None:
    hint = await written_answer_hint()
    assert "start Ollama or llama.cpp" in hint
    assert "--model auto" in hint
    assert "\n" not in hint


class _Listing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"models": [{"model": "nomic-embed-text"}, {"model": "llama3.2"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def ollama() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Listing)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.mark.loopback
async def test_a_server_that_runs_here_is_named_with_the_model_that_chats(
    ollama: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_servers, "SERVERS", (LocalServer("Ollama", ollama, "/api/tags"),))
    # The answer has to come within the time that a server has; a busy machine may need more.
    monkeypatch.setattr(local_servers, "SECONDS", 30)
    hint = await written_answer_hint()
    assert f"llama3.2 of Ollama at 127.0.0.1:{ollama}" in hint
    assert "--model auto" in hint

"""A server as the guide starts it: what its operator did not set is closed, whatever else they did set.

The keys of people and of models lie in its working folder, and nothing says what may be read there.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from anabranch.agent.nodes.settings import REACHING
from anabranch.ingestion.pipeline import ingest
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from plugins.server.tests.attacks import PATHS
from plugins.server.tests.serve_process import serving

pytestmark = pytest.mark.loopback

KEYS = {"bob": new_key(), "rita": new_key()}
SECRET = "zqsecretofthisserver"  # what nobody may read
NOTE = "# The weir\n\nThe weir at Halden was built in 1848 by the engineer Ole Moen.\n"
SELDOM = pytest.mark.exhaustive
LOCKS = {"no lock": "", "another lock": '["top_k"]', "empty lock": "[]", "two of them": '["base_url", "model"]'}
"""What operators set."""

CLOSED = (
    ".env", "auth.yaml", "./auth.yaml", "sub/../auth.yaml", ".ssh/id_rsa", ".", "sub", "data", "corpus", "serve.log",
    "private.md", "linked.md", "{home}/private.md", "{home}/.env", "../{name}/private.md", ".anabranch/uploads", *PATHS,
)  # fmt: skip
GIVEN: dict[str, Any] = {
    "model": "openai:x", "base_url": "http://169.254.169.254/", "model_kwargs": {"top_p": 0.5}, "file_links": False,
}  # fmt: skip
"""What is given for a setting that takes no path."""

SLOW = 300
LONG = 10_000
"""Attacks from which on there are more slow connections than a process may have files open."""


@pytest.fixture(
    scope="module",
    params=["no lock", "another lock", *(pytest.param(name, marks=SELDOM) for name in ("empty lock", "two of them"))],
)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    home = tmp_path_factory.mktemp("defaults")
    (home / "documents").mkdir()
    (home / "documents" / "weir.md").write_text(NOTE)
    ingest([home / "documents" / "weir.md"], home / "corpus")
    roles = {"bob": ["ask"], "rita": ["ask", "ingest"]}
    keys = [{"identity": name, "sha256": digest_of_secret(key), "roles": roles[name]} for name, key in KEYS.items()]
    (home / "auth.yaml").write_text(f"# {SECRET}\n{yaml.safe_dump({'keys': keys})}")
    (home / ".ssh").mkdir()
    (home / "sub").mkdir()
    for name in (".env", ".ssh/id_rsa", "private.md", "sub/private.md"):
        (home / name).write_text(f"The password is {SECRET}.\n")
    (home / "linked.md").symlink_to(home / ".env")
    variables = {"ANABRANCH_AUTH": "auth.yaml", **({"ANABRANCH_LOCK": lock} if (lock := LOCKS[request.param]) else {})}
    with serving(home, "--data", str(home / "data"), **variables) as process:
        yield process.url, home


def client(server: tuple[str, Path], name: str | None) -> httpx.Client:
    headers = {} if name is None else {"Authorization": f"Bearer {KEYS[name]}"}
    return httpx.Client(base_url=server[0], timeout=120, headers=headers)


def asked(http: httpx.Client, **context: Any) -> httpx.Response:
    question = {"question": "Who built the weir?"}
    return http.post("/runs/wait", json={"assistant_id": "answer", "input": question, "context": context})


@pytest.mark.parametrize("name", REACHING)
def test_no_setting_of_a_caller_reaches_a_place_or_an_address(server: tuple[str, Path], name: str) -> None:
    """Also not to tell what is there: for a folder that there is, and for one that there is not, the words are one."""
    _, home = server
    with client(server, "bob") as http:
        assert "Ole Moen" in asked(http).text
        told = []
        for place in (home / "documents", home / "none", Path("/etc")):
            reply = asked(http, **{name: GIVEN.get(name, str(place))})
            assert "Ole Moen" not in reply.text
            assert f"'{name}' is fixed" in reply.text, reply.text
            told.append(reply.text.replace(str(place), ""))
        assert len(set(told)) == 1


def test_nothing_of_the_working_folder_is_taken_in(server: tuple[str, Path]) -> None:
    _, home = server
    with client(server, "rita") as http:
        for path in CLOSED:
            given = path.replace("{home}", str(home)).replace("{name}", home.name).replace("{}", "private.md")
            body = {"assistant_id": "ingest", "input": {"paths": [given], "access": []}}
            reply = http.post("/runs/wait", json=body)
            assert '"added"' not in reply.text, (given, reply.text)
            assert SECRET not in reply.text
        found = http.post("/runs/wait", json={"assistant_id": "answer", "input": {"question": f"What is {SECRET}?"}})
        assert f"password is {SECRET}" not in found.text
        # What she sends herself is what she may take in.
        sent = http.post("/uploads", files={"files": ("mine.md", b"# Mine\n\nThe mill at Lervik grinds corn.\n")})
        body = {"assistant_id": "ingest", "input": {"paths": sent.json()["paths"], "access": []}}
        assert '"added"' in http.post("/runs/wait", json=body).text


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect"])
def test_there_are_no_pages_that_load_from_elsewhere(server: tuple[str, Path], path: str) -> None:
    with client(server, "bob") as http:
        assert http.get(path).status_code == 404
        assert "frame-ancestors 'none'" in http.get("/").headers["content-security-policy"]


def test_there_is_nothing_without_a_key(server: tuple[str, Path]) -> None:
    with client(server, None) as http:
        described = http.get("/openapi.json").json()["paths"]
        routes = [(method, path) for path, methods in described.items() for method in methods]
        assert len(routes) > 25
        for method, path in routes:
            reply = http.request(method, path.replace("{", "").replace("}", ""), json={})
            assert SECRET not in reply.text
            assert "Ole Moen" not in reply.text
            open_to_all = path.startswith("/.well-known/") or path in {
                "/",
                "/ok",
                "/info",
                "/ready",
                "/settings",
                "/openapi.json",
                "/login",
                "/page/{name}",
            }
            assert reply.status_code in (401, 403, 404, 422) or open_to_all, (method, path, reply.status_code)


def test_slow_connections_keep_nobody_out(server: tuple[str, Path], request: pytest.FixtureRequest) -> None:
    port = int(server[0].rpartition(":")[2])
    count = 1_300 if int(request.config.getoption("--attacks")) >= LONG else SLOW
    heads = (b"", b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\nX-", b"POST /runs HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
    with ExitStack() as stack, client(server, "bob") as http:
        for number in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            connection.sendall(heads[number % len(heads)])
        assert http.get("/ok").status_code == 200
        assert "Ole Moen" in asked(http).text


HOSTS = (
    "a@127.0.0.1",
    "127.0.0.1/x",
    "127.0.0.1#x",
    "127.0.0.1?x",
    "elsewhere.example",
    "",
    "[::1",
    "127.0.0.1, a",
    "2130706433",
)


def test_an_unnamed_caller_comes_by_this_machines_name_alone(tmp_path: Path) -> None:
    """Whoever uses this machine says no name; a page of another site that leads here is not they."""
    (tmp_path / "weir.md").write_text(NOTE)
    ingest([tmp_path / "weir.md"], tmp_path / "corpus")
    with serving(tmp_path, "--data", str(tmp_path / "data")) as process, httpx.Client(base_url=process.url) as http:
        for host in HOSTS:
            for path in ("/", "/ok", "/info", "/openapi.json", "/threads/none"):
                reply = http.get(path, headers={"Host": host})
                assert reply.status_code in (400, 403), (host, path, reply.status_code)
        assert http.get("/ok", headers={"Host": "LOCALHOST:80"}).status_code == 200
        (tmp_path / ".netrc").write_text(f"The password is {SECRET}.\n")
        (tmp_path / "private.md").write_text(f"The password is {SECRET}.\n")
        for path in (".netrc", "private.md", json.dumps([".netrc"]), "."):
            reply = http.post("/runs/wait", json={"assistant_id": "ingest", "input": {"paths": [path]}}, timeout=120)
            assert '"added"' not in reply.text, reply.text

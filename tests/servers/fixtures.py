"""The pytest plugin of the model servers: `loopback` tests may reach 127.0.0.1 only, others open no socket at all.

pytest-socket does the blocking. It leaves two ways out in a test with allowed hosts, which are closed here: looking a
name up asks a DNS server, and `connect_ex` is not guarded.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import certifi
import pytest

from tests.servers import llama
from tests.servers.postgres import postgres

LOOPBACK = ("127.0.0.1", "localhost")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Turn the marker into pytest-socket's own, so that it enables and disables in the right order."""
    if item.get_closest_marker("loopback"):
        item.add_marker(pytest.mark.allow_hosts(list(LOOPBACK)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Close the ways out that pytest-socket leaves."""
    if not item.get_closest_marker("loopback"):
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", _only_loopback(socket.getaddrinfo, 0))
        patch.setattr(socket.socket, "connect_ex", _only_loopback(socket.socket.connect_ex, 1))
        return (yield)


def _only_loopback(function: Any, position: int) -> Any:
    """Refuse to call a function whose argument at a position is, or is the address of, another host."""

    def guarded(*args: Any, **kwargs: Any) -> Any:
        host = args[position][0] if isinstance(args[position], tuple) else args[position]
        if host not in {*LOOPBACK, None}:
            raise RuntimeError(f"a test tried to reach {host!r}; only {LOOPBACK} are open to it")
        return function(*args, **kwargs)

    return guarded


@pytest.fixture(scope="session", autouse=True)
def _one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have this process and its children trust a single authority: nobody meets one, and to load all takes 30 ms.

    Each HTTP client loads them, and each test with a model server makes two clients: a third of what such a test costs.
    """
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    file = tmp_path_factory.mktemp("authorities") / "one.pem"
    file.write_text(first + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """Run one PostgreSQL for all tests of this process that make corpora or tables of their own in it."""
    # Not below pytest's own folder, which is closed to the user that the server runs as where root runs the tests.
    with (
        TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as folder,
        postgres(Path(folder)) as address,
    ):
        yield address


@pytest.fixture(scope="session")
def llama_server() -> Iterator[str]:
    """The base url of a real model server (tests that use it are `loopback`); skips where its wheels are missing."""
    if reason := llama.missing():
        pytest.skip(reason)
    with llama.llama_server() as base_url:
        yield base_url

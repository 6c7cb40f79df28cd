"""Which tests may open which sockets."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from pytest_socket import SocketBlockedError, SocketConnectBlockedError

ELSEWHERE = "192.0.2.1"  # reserved for documentation (RFC 5737): nobody answers there


def test_without_the_marker_no_socket_opens() -> None:
    with pytest.warns(UserWarning, match=r"socket\.socket"), pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with pytest.warns(UserWarning, match="getaddrinfo"), pytest.raises(SocketBlockedError):
        socket.create_connection(("localhost", 9))


async def test_without_the_marker_the_event_loop_still_runs() -> None:
    assert await asyncio.to_thread(lambda: 1) == 1


@pytest.mark.loopback
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_with_the_marker_this_machine_is_reached(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answered = threading.Thread(target=lambda: server.accept()[0].close())
        answered.start()
        with socket.create_connection((name, server.getsockname()[1]), timeout=5) as client:
            assert client.recv(1) == b""
        answered.join()


@pytest.mark.loopback
def test_with_the_marker_another_machine_is_not_reached() -> None:
    with pytest.warns(UserWarning, match=ELSEWHERE), pytest.raises(SocketConnectBlockedError):
        socket.socket().connect((ELSEWHERE, 9))
    with socket.socket() as client, pytest.raises(RuntimeError, match=ELSEWHERE):
        client.connect_ex((ELSEWHERE, 9))


@pytest.mark.loopback
async def test_with_the_marker_no_name_is_looked_up() -> None:
    with pytest.raises(RuntimeError, match=r"api\.openai\.com"):
        socket.getaddrinfo("api.openai.com", 443)
    with pytest.raises(RuntimeError, match=r"api\.openai\.com"):
        await asyncio.open_connection("api.openai.com", 443)

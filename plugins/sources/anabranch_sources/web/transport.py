"""One request over one connection to addresses that were checked, within a time limit for all of it.

httpcore and not a client above it: it knows no proxy, no cookie, no redirect and no environment variable, and lets us
open the socket. The host stays in the request and in the TLS handshake; only the socket is told an IP address.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpcore
import httpx

AGENT = "anabranch"
"""The name of this program in requests, and in the rules of robots.txt."""


class Deadline:
    """The time at which a fetch must be finished."""

    def __init__(self, seconds: float) -> None:
        """Count from now."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._end

    def check(self) -> None:
        """Check that there is time left.

        Raises:
            httpcore.ReadTimeout: The time is up.
        """
        self.bounded(None)

    def bounded(self, timeout: float | None) -> float:
        """Return how long one step may wait.

        Raises:
            httpcore.ReadTimeout: The time is up.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("The time is up.")
        return left if timeout is None else min(timeout, left)


class Pinned(httpcore.NetworkBackend):
    """Connects to the given addresses, whatever host is asked for."""

    def __init__(self, addresses: Sequence[str], deadline: Deadline, network: httpcore.NetworkBackend) -> None:
        """Take addresses in the order to try them, and what opens the sockets."""
        self._addresses = tuple(addresses)
        self._deadline = deadline
        self._network = network

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,  # noqa: ANN401  # as httpcore has it
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers; `host` is only for the messages."""
        failure: Exception = httpcore.ConnectError(f"{host!r} has no address.")
        # The checked addresses are used; a second lookup could return others (DNS rebinding).
        for address in self._addresses:
            wait = self._deadline.bounded(timeout)
            try:
                # Each step gets the total deadline, because a server that sends a byte a second meets every timeout.
                stream = self._network.connect_tcp(address, port, wait, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Timed(stream, self._deadline)
        raise failure


class _Timed(httpcore.NetworkStream):
    """A stream each of whose steps ends with the deadline: a timeout of each step alone lets a slow drip go on."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.bounded(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.bounded(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        wait = self._deadline.bounded(timeout)
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, wait), self._deadline)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401  # as httpcore has it
        return self._stream.get_extra_info(info)


@contextmanager
def send_request(url: httpx.URL, backend: httpcore.NetworkBackend, *, idle: float) -> Iterator[httpcore.Response]:
    """Send a GET request and yield the response, its body still to be read.

    Args:
        url: From `ssrf_guard.parse_address`.
        backend: Opens the socket.
        idle: Seconds that one step (connecting, one read) may take.

    Raises:
        httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError: Also while the body is read.
    """
    target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    headers: dict[bytes | str, bytes | str] = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": AGENT,
        "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5",
        # Every server supports gzip. Deflate has two similar forms, br and zstd need other libraries.
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    timeout = dict.fromkeys(("connect", "read", "write", "pool"), idle)
    with (
        httpcore.ConnectionPool(ssl_context=_tls_context(), network_backend=backend, max_connections=1) as pool,
        pool.stream("GET", target, headers=headers, extensions={"timeout": timeout}) as response,
    ):
        yield response


@cache
def _tls_context() -> ssl.SSLContext:
    """Return a context that trusts the usual authorities and those of this machine, as for an intranet."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context

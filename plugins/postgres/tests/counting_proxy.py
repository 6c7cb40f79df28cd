"""A way to a PostgreSQL server that counts how often its user waits for an answer, and can be made longer."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = ".s.PGSQL.5432"


class Way:
    """What went through.

    Attributes:
        waits: How often the server was ready for the next question ("ReadyForQuery"): one for each round trip.
        delay: Seconds that an answer takes longer than it does.
    """

    def __init__(self) -> None:
        self.waits = 0
        self.delay = 0.0


class _Proxy(socketserver.ThreadingUnixStreamServer):
    """Closing it ends and waits for every connection, so that none is reported as open in whatever test comes next."""

    def __init__(self, server: Path, folder: Path) -> None:
        super().__init__(str(folder / NAME), _Connection)
        self.server, self.way = server, Way()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def keep(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)

    def drop(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)
            connection.close()

    def end_connections(self) -> None:
        with self._lock:
            for connection in self._open:
                _shut(connection, socket.SHUT_RDWR)


class _Connection(socketserver.BaseRequestHandler):
    server: _Proxy

    def handle(self) -> None:
        upstream = socket.socket(socket.AF_UNIX)
        asking = threading.Thread(target=_forward, args=(self.request, upstream))
        for each in (upstream, self.request):
            self.server.keep(each)
        try:
            upstream.connect(str(self.server.server / NAME))
            asking.start()
            with suppress(OSError, EOFError):
                _answer(self.server.way, upstream, self.request)
        finally:
            for each in (upstream, self.request):
                _shut(each, socket.SHUT_RDWR)
            if asking.ident:
                asking.join()
            for each in (upstream, self.request):
                self.server.drop(each)


@contextmanager
def counted(server: Path, folder: Path) -> Iterator[Way]:
    """Stand between the folder of a server's socket and a folder of one's own."""
    with _Proxy(server, folder) as proxy:
        listening = threading.Thread(target=proxy.serve_forever, args=(0.02,))
        listening.start()
        try:
            yield proxy.way
        finally:
            proxy.shutdown()
            listening.join()
            proxy.end_connections()


def _shut(connection: socket.socket, how: int) -> None:
    with suppress(OSError):
        connection.shutdown(how)


def _forward(reader: socket.socket, writer: socket.socket) -> None:
    with suppress(OSError):
        while data := reader.recv(1 << 16):
            writer.sendall(data)
    _shut(writer, socket.SHUT_WR)


def _answer(way: Way, upstream: socket.socket, user: socket.socket) -> None:
    """Pass on what the server says, message by message: a letter, a length that counts itself, and the rest."""
    with upstream.makefile("rb") as reader:
        while head := reader.read(5):
            rest = reader.read(int.from_bytes(head[1:]) - 4)
            if head[:1] == b"Z":
                way.waits += 1
                time.sleep(way.delay)
            user.sendall(head + rest)

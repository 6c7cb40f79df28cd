"""One real PostgreSQL server for the tests of this folder, from a wheel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from anabranch.store.maintenance import verify
from tests.server.postgres import postgres
from tests.store.postgres.test_postgres_corpus import fill

_numbers = count()


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    # Not below pytest's own folder, which is closed to the user that the server runs as where root runs the tests.
    with (
        TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as folder,
        postgres(Path(folder)) as address,
    ):
        yield address


@pytest.fixture(scope="module")
def beside(database: str) -> Iterator[str]:
    """Fill a corpus that is whole after all that the tests of a module do to the others of its database."""
    address = f"{database}#beside-{next(_numbers)}"
    fill(address)
    yield address
    assert verify(address) == []


@pytest.fixture
def corpus(database: str) -> str:
    """Return the address of a corpus that is not there yet."""
    return f"{database}#corpus-{next(_numbers)}"

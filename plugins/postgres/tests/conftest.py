"""Corpora in a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from anabranch.store.maintenance import verify
from plugins.postgres.tests.test_postgres_corpus import fill

_numbers = count()


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

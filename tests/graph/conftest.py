"""A small real corpus for the graph's tests: made once, embedded with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.ingestion.pipeline import ingest
from tests.shared_fixtures import REPOSITORY


@pytest.fixture(scope="session")
def river(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus of three pages and three notes about a river; one note is for the tag `family` only."""
    folder = tmp_path_factory.mktemp("river") / "corpus"
    report = ingest([REPOSITORY / "tests" / "samples"], Path(folder))
    assert not [row for row in report.rows if row.status == "failed"]
    return str(folder)

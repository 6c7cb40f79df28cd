"""One real PostgreSQL for the queue's tests, and an embedder that costs nothing to load."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.postgres.tests.conftest import corpus
from tests.faults.models import make_model

__all__ = ["corpus"]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_model(tmp_path_factory.mktemp("models") / "table"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of a folder, one of them with several documents."""
    home = tmp_path / "notes"
    home.mkdir()
    for day in range(12):
        (home / f"day{day}.txt").write_text(f"On day {day} the gauge stood still. " * 5, encoding="utf-8")
    lines = [f'{{"id": "line{number}", "text": "In hour {number} of the day."}}\n' for number in range(5)]
    (home / "hours.jsonl").write_text("".join(lines), encoding="utf-8")
    return home

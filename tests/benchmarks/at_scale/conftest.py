"""Sentences of the guide with their vectors, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.at_scale.pool import Pool, pool_of

TEXT = ROOT / "docs"


@pytest.fixture(scope="package")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that keeps the vectors, also for a quick run of the command, which draws the same sentences."""
    return tmp_path_factory.mktemp("pool")


@pytest.fixture(scope="package")
def pool(kept: Path) -> Pool:
    return pool_of([TEXT], kept, most=220, questions=10, seed=1)

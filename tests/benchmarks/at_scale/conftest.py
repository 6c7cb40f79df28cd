"""Sentences of the guide with their vectors, made once."""

from __future__ import annotations

import pytest

from benchmarks import ROOT
from benchmarks.at_scale.pool import Pool, pool_of


@pytest.fixture(scope="package")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    return pool_of([ROOT / "docs"], tmp_path_factory.mktemp("pool"), most=220, questions=5, seed=1)

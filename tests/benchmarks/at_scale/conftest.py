"""Sentences of the guide with their vectors, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.at_scale import generate
from benchmarks.at_scale.pool import Pool, pool_of

TEXT = ROOT / "docs" / "adr"


@pytest.fixture(scope="package", autouse=True)
def _few_texts_are_embedded() -> Iterator[None]:
    """What a corpus is made of is embedded once, for the pool; what is embedded beside it is most of what it costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "ADDED", 2)
        patch.setattr(generate, "SAMPLE", 8)
        yield


@pytest.fixture(scope="package")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that keeps the vectors, also for a quick run of the command, which draws the same sentences."""
    return tmp_path_factory.mktemp("pool")


@pytest.fixture(scope="package")
def pool(kept: Path) -> Pool:
    return pool_of([TEXT], kept, most=220, questions=10, seed=1)

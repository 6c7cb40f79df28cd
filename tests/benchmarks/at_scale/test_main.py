"""The command runs at a small size, from text to page, beside the peer that the development environment has."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks.at_scale.__main__ import PAGE, main
from benchmarks.at_scale.generate import generate
from benchmarks.at_scale.material import Material
from benchmarks.at_scale.pool import Pool
from benchmarks.at_scale.running import Terms, measured
from tests.benchmarks.at_scale.conftest import TEXT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(kept: Path, pool: Pool) -> str:
    page = kept / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    peers = ["--peers", sys.executable, "--systems", "anabranch,langchain"]
    corpus = ["--text", str(TEXT), "--folder", str(kept)]
    assert main(["--quick", *peers, *corpus, "--write", str(page)]) == 0
    return page.read_text("utf-8")


def rows(page: str, name: str) -> list[list[str]]:
    """Return the cells of a table, without its heading."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", page, flags=re.DOTALL)
    assert found
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.exhaustive
def test_every_phase_of_every_system_is_in_the_page(page: str) -> None:
    assert rows(page, "scale-not-run") == []
    assert [row[1] for row in rows(page, "scale-build")] == ["Anabranch", "LangChain"]
    assert not any("-" in row for name in ("scale-build", "scale-open") for row in rows(page, name))
    assert [row[2] for row in rows(page, "scale-search")].count("hybrid") == 2


@pytest.mark.exhaustive
def test_dense_search_is_exact_and_filters_starve_nobody(page: str) -> None:
    recalls = {(row[1], row[2]): float(row[7]) for row in rows(page, "scale-search") if row[2] == "dense"}
    assert recalls["LangChain", "dense"] == 1.0
    assert recalls["Anabranch", "dense"] >= 0.98
    for row in rows(page, "scale-filter"):
        if row[1] == "Anabranch":
            assert row[10] == "0.0"
            assert row[4] == "bm25" or float(row[9]) == min(10, int(row[3]))


@pytest.mark.exhaustive
def test_bm25_has_the_scores_of_rank_bm25(page: str) -> None:
    ((_, compared, difference),) = rows(page, "scale-agree")
    assert int(compared) > 50
    assert float(difference) < 1e-6


@pytest.fixture(scope="module")
def material(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Material:
    return generate(pool, 20, tmp_path_factory.mktemp("material"), seed=1)


SETTINGS = {"depth": 50}


@pytest.mark.parametrize(
    ("cap", "megabytes", "reason"),
    # Where memory ends, Python fails in whatever it is doing, its compiler with "field 'target' is required..."
    [
        (0.01, 0.0, "not done within 0 min"),
        (None, 30.0, "memory|MemoryError|allocate|exit|ended|thread|map|field '.*' is required for"),
    ],
)
def test_a_system_that_takes_too_much_is_told_of(
    material: Material, tmp_path: Path, cap: float | None, megabytes: float, reason: str
) -> None:
    terms = Terms(tmp_path, 2, cap, megabytes, SETTINGS)
    figures = measured("langchain", sys.executable, material, 20, terms, lambda _: None)
    assert list(figures.failed) == ["build"]
    assert re.search(reason, figures.failed["build"])


def test_a_peer_that_is_not_installed_is_told_of(material: Material, tmp_path: Path) -> None:
    job = tmp_path / "job.json"
    assert not job.exists()
    figures = measured(
        "llama_index", sys.executable, material, 20, Terms(tmp_path, 2, None, 0.0, SETTINGS), lambda _: None
    )
    assert "llama_index" in figures.failed["build"]
    assert json.loads(job.read_text("utf-8"))["phase"] == "build"

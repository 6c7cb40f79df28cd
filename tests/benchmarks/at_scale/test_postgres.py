"""The command for PostgreSQL fills both corpora, and finds the same in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.at_scale.postgres import main
from tests.benchmarks.at_scale.conftest import TEXT
from tests.servers.postgres import postgres

pytestmark = pytest.mark.loopback


@pytest.fixture
def database() -> Iterator[str]:
    with (
        TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as folder,
        postgres(Path(folder)) as address,
    ):
        yield address


def test_both_are_filled_and_find_the_same(database: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- scale-postgres -->\n<!-- /scale-postgres -->\n", encoding="utf-8")
    # The sentences of the other tests' pool: a process embeds each once.
    text = ["--text", str(TEXT), "--sentences", "220", "--searches", "10"]
    options = [*text, "--sizes", "300", "--folder", str(tmp_path / "kept")]
    assert main([database, *options, "--write", str(page)]) == 0
    rows = [line.split(" | ") for line in page.read_text("utf-8").splitlines() if line.startswith("| 300")]
    assert [row[1] for row in rows] == ["folder", "PostgreSQL"]
    assert all(float(row[7]) > 0 for row in rows)
    assert [row[8:] for row in rows] == [["1.000", "0", "0e+00 |"]] * 2
    assert main([database, *options]) == 0  # what is there is not filled again

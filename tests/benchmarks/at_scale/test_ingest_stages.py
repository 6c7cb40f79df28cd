"""The stages of an ingest are those of its time, and the whole of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.at_scale.ingest_stages import STAGES, main


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it gives processes so many cores")
def test_every_stage_and_every_number_of_cores_has_a_row(tmp_path: Path) -> None:
    text, page = tmp_path / "notes", tmp_path / "page.md"
    text.mkdir()
    (text / "note.md").write_text("# Trees\n\nAlders grow at rivers. Birches grow on moors.\n", "utf-8")
    page.write_text(
        "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in ("scale-stages", "scale-cores")), "utf-8"
    )
    assert main([str(text), "--cores", "1", "--write", str(page)]) == 0
    rows = [line.strip("| ").split(" | ") for line in page.read_text("utf-8").splitlines() if line.startswith("| ")]
    stages, cores = rows[1:-2], rows[-1]
    assert [row[0] for row in stages[:-2]] == list(STAGES)
    assert sum(int(row[2].rstrip("%")) for row in stages) == pytest.approx(100, abs=5)
    assert all(float(row[1]) >= 0 for row in stages)
    assert cores[0] == "1"
    assert 0 < float(cores[6]) <= 1.05  # no more than the core that it had

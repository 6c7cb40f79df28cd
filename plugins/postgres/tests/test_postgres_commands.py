"""`anabranch corpus` over a corpus in PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.store.corpus_address import shown_address
from plugins.postgres.tests.test_postgres_corpus import fill
from plugins.postgres.tests.test_postgres_verify import change
from tests.cli.conftest import Run, run  # noqa: F401  # a fixture

pytestmark = pytest.mark.loopback


def test_stats_verify_and_remove(run: Run, corpus: str) -> None:  # noqa: F811
    fill(corpus)
    text = run("corpus", "stats", "--corpus", corpus)
    assert text.exit_code == 0
    for part in ("9 documents", "gauge.md", "generation 1", "MiniLM", "with all its corpora", "board"):
        assert part in text.stdout
    listed = json.loads(run("corpus", "stats", "--corpus", corpus, "--json").stdout)
    assert (listed["documents"], listed["is_current"], len(listed["sources"])) == (9, True, 9)
    assert listed["path"] == shown_address(corpus)
    assert run("corpus", "verify", "--corpus", corpus).stdout == f"{shown_address(corpus)} is sound.\n"
    assert run("corpus", "remove", "gauge.md", "--corpus", corpus).stdout == "Removed 1 document.\n"
    change(corpus, "DELETE FROM anabranch.audience_sizes WHERE corpus = {this}")
    broken = run("corpus", "verify", "--corpus", corpus)
    assert broken.exit_code == 1
    assert "sizes of an audience" in broken.stdout
    assert "anabranch corpus rebuild" in broken.stdout


def test_copy_and_export(run: Run, corpus: str, tmp_path: Path) -> None:  # noqa: F811
    folder = str(tmp_path / "c")
    fill(folder)
    copied = run("corpus", "copy", folder, corpus)
    assert copied.exit_code == 0
    said = "9 documents copied, 0 already there; 36 passages compared, 0 differences."
    assert copied.stdout == f"{shown_address(corpus)}: {said}\n"
    again = run("corpus", "copy", folder, corpus)
    assert again.exit_code == 2
    assert "already holds documents" in again.stderr
    files = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for address, file in zip((folder, corpus), files, strict=True):
        assert run("corpus", "export", "--vectors", "--corpus", address, "--output", file).exit_code == 0
    one, other = ({json.loads(line)["line_sha256"] for line in file.read_text().splitlines()} for file in files)
    assert one == other
    change(corpus, "UPDATE anabranch.chunks SET text = 'x' WHERE corpus = {this} AND document = {mill} AND level = 2")
    torn = run("corpus", "copy", corpus, str(tmp_path / "torn"), "--json")
    assert torn.exit_code == 1
    report = json.loads(torn.stdout)
    assert report["documents"] == 8
    assert report["problems"][0].startswith("notes.jsonl#mill: not copied, ")
    assert run("corpus", "export", "--corpus", corpus, "--output", tmp_path / "torn.jsonl").exit_code == 1

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def own(corpus: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(corpus, tmp_path / "corpus"))


def test_stats_list_the_documents(run: Run, corpus: Path) -> None:
    text = run("corpus", "stats", "--corpus", corpus)
    assert text.exit_code == 0
    for part in ("3 documents", "rivers.md", "generation 1", "MiniLM"):
        assert part in text.stdout
    facts = json.loads(run("corpus", "stats", "--corpus", corpus, "--json").stdout)
    assert facts["documents"] == 3
    assert [row["source"] for row in facts["sources"]] == ["bees.md", "cellar notes.txt", "rivers.md"]
    assert facts["sources"][0]["chunks"] > 1


def test_a_sound_corpus_is_said_to_be_sound(run: Run, corpus: Path) -> None:
    assert run("corpus", "verify", "--corpus", corpus).exit_code == 0
    verdict = json.loads(run("corpus", "verify", "--corpus", corpus, "--json").stdout)
    assert verdict == {"sound": True, "problems": []}


def test_damage_is_found_and_mended(run: Run, own: Path) -> None:
    index = next((own / "segments").glob("*/dense*"))
    index.write_bytes(b"\0" * index.stat().st_size)
    broken = run("corpus", "verify", "--corpus", own, "--json")
    assert broken.exit_code == 1
    assert json.loads(broken.stdout)["problems"]
    rebuilt = run("corpus", "rebuild", "--corpus", own)
    assert (rebuilt.exit_code, rebuilt.stdout) == (0, "")
    assert "generation 2" in rebuilt.stderr
    assert run("corpus", "verify", "--corpus", own).exit_code == 0


def test_removed_documents_are_found_no_more(run: Run, own: Path) -> None:
    assert "Removed 1 document." in run("corpus", "remove", "bees.md", "--corpus", own).stdout
    assert "bees.md" not in run("search", "waggle dance", "--corpus", own, "--json").stdout
    assert "Removed 1 document." in run("corpus", "remove", "*.txt", "--corpus", own).stdout


def test_removing_what_is_not_there_removes_nothing(run: Run, own: Path) -> None:
    result = run("corpus", "remove", "bees.md", "wasps.md", "--corpus", own)
    assert result.exit_code == 2
    assert "wasps.md" in result.stderr
    assert "bees.md" in run("corpus", "stats", "--corpus", own).stdout


@pytest.mark.parametrize("command", ["stats", "verify", "rebuild"])
def test_no_corpus_is_the_users_mistake(run: Run, tmp_path: Path, command: str) -> None:
    result = run("corpus", command, "--corpus", tmp_path / "none")
    assert result.exit_code == 2
    assert "There is no corpus" in result.stderr
    assert not (tmp_path / "none").exists()

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.store.write_lock import hold_write_lock
from tests.cli.conftest import Run


@pytest.fixture
def own(corpus: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(corpus, tmp_path / "corpus"))


def change(corpus: Path, sql: str) -> None:
    with closing(sqlite3.connect(corpus / "corpus.db", isolation_level=None)) as connection:
        connection.execute(sql)


def test_stats_list_the_documents(run: Run, corpus: Path) -> None:
    text = run("corpus", "stats", "--corpus", corpus)
    assert text.exit_code == 0
    for part in ("3 documents", "rivers.md", "generation 1", "MiniLM"):
        assert part in text.stdout
    facts = json.loads(run("corpus", "stats", "--corpus", corpus, "--json").stdout)
    assert (facts["documents"], facts["is_current"], facts["problem"]) == (3, True, "")
    assert [row["source"] for row in facts["sources"]] == ["bees.md", "cellar notes.txt", "rivers.md"]
    assert facts["sources"][0]["chunks"] > 1


def test_stats_of_an_empty_corpus_and_of_one_that_is_behind(run: Run, own: Path) -> None:
    change(own, "UPDATE meta SET value = '99' WHERE name = 'changes'")
    behind = run("corpus", "stats", "--corpus", own)
    assert "older than the documents" in behind.stderr
    run("corpus", "remove", "*", "--corpus", own)
    empty = json.loads(run("corpus", "stats", "--corpus", own, "--json").stdout)
    assert (empty["documents"], empty["sources"]) == (0, [])


def test_only_the_first_of_many_documents_are_shown(run: Run, own: Path) -> None:
    columns = "born, path, key, title, digest, metadata, access, tokens, pages, checksum"
    change(
        own,
        f"INSERT INTO documents (doc_id, source, {columns}) WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
        f"FROM n WHERE x < 150) SELECT 'id' || x, 'many/' || x, {columns} FROM documents, n WHERE number = 1",
    )
    change(own, "UPDATE meta SET value = '99' WHERE name = 'changes'")
    text = run("corpus", "stats", "--corpus", own)
    assert "... and 53 more" in text.stdout
    assert len(json.loads(run("corpus", "stats", "--corpus", own, "--json").stdout)["sources"]) == 153


def test_a_sound_corpus_is_said_to_be_sound(run: Run, corpus: Path) -> None:
    assert run("corpus", "verify", "--corpus", corpus).exit_code == 0
    verdict = json.loads(run("corpus", "verify", "--corpus", corpus, "--json").stdout)
    assert verdict == {"sound": True, "problems": [], "remarks": []}


def test_damage_is_found_and_mended_by_a_rebuild(run: Run, own: Path) -> None:
    index = next((own / "segments").glob("*/dense*"))
    index.write_bytes(b"\0" * index.stat().st_size)
    broken = run("corpus", "verify", "--corpus", own, "--json")
    assert broken.exit_code == 1
    assert json.loads(broken.stdout)["problems"]
    rebuilt = run("corpus", "rebuild", "--corpus", own)
    assert (rebuilt.exit_code, rebuilt.stdout) == (0, "")
    assert "generation 2" in rebuilt.stderr
    assert run("corpus", "verify", "--corpus", own).exit_code == 0


def test_what_is_wrong_is_said_line_by_line_and_what_to_do_about_it(run: Run, own: Path) -> None:
    change(own, "DELETE FROM chunks WHERE level = 2 AND text LIKE '%boiler%'")
    change(own, "DELETE FROM vectors WHERE vector_key = (SELECT min(vector_key) FROM chunks WHERE level = 2)")
    found = run("corpus", "verify", "--corpus", own)
    assert found.exit_code == 1
    assert "- cellar notes.txt: a passage is missing" in found.stdout
    said = " ".join(found.stdout.split())
    assert "anabranch corpus rebuild." in said
    assert "anabranch corpus remove SOURCE, then ingest their folder." in said
    run("corpus", "remove", "cellar notes.txt", "--corpus", own)
    run("corpus", "rebuild", "--corpus", own)
    sound = run("corpus", "verify", "--corpus", own)
    assert (sound.exit_code, sound.stdout.strip()) == (0, f"{own} is sound.")


def test_removed_documents_are_found_no_more(run: Run, own: Path) -> None:
    assert "Removed 1 document." in run("corpus", "remove", "bees.md", "--corpus", own).stdout
    assert "bees.md" not in run("search", "waggle dance", "--corpus", own, "--json").stdout
    assert "Removed 1 document." in run("corpus", "remove", "*.txt", "--corpus", own).stdout


def test_removing_what_is_not_there_removes_nothing(run: Run, own: Path) -> None:
    result = run("corpus", "remove", "bees.md", "wasps.md", "--corpus", own)
    assert result.exit_code == 2
    assert "wasps.md" in result.stderr
    assert "bees.md" in run("corpus", "stats", "--corpus", own).stdout


def test_a_writer_waits_if_asked_to_and_says_for_whom(run: Run, own: Path) -> None:
    rebuild = ["corpus", "rebuild", "--corpus", str(own)]
    with hold_write_lock(own):
        refused = run(*rebuild)
        assert refused.exit_code == 1
        assert "is being written to by process" in refused.stderr
        command = [sys.executable, "-m", "anabranch.cli", *rebuild, "--wait", "50"]
        waiting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr is not None
        assert "Waiting for 50 seconds at most" in waiting.stderr.readline()
    assert waiting.wait() == 0
    waiting.stderr.close()


@pytest.mark.parametrize(
    "command",
    [["stats"], ["verify"], ["rebuild"], ["remove", "a"]],
    ids=" ".join,
)
def test_no_corpus_is_the_users_mistake(run: Run, tmp_path: Path, command: list[str]) -> None:
    result = run("corpus", *command, "--corpus", tmp_path / "none")
    assert result.exit_code == 2
    assert "There is no corpus" in result.stderr
    assert not (tmp_path / "none").exists()

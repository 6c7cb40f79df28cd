from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import Run


def test_the_table_names_every_file_and_the_reason(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "empty.md").write_text("")
    result = run("ingest", documents, tmp_path / "broken.pdf", tmp_path / "empty.md", "--corpus", tmp_path / "c")
    assert result.exit_code == 0
    for part in ("rivers.md", "cellar notes.txt", "broken.pdf", "empty.md", "3 added, 2 failed", "holds 3 documents"):
        assert part in result.stdout
    assert "empty:" in result.stdout


def test_a_second_run_changes_nothing_and_a_third_what_changed(run: Run, tmp_path: Path) -> None:
    folder, corpus = tmp_path / "d", tmp_path / "c"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThe word of the day is {name}-{name}.\n")
    run("ingest", folder, "--corpus", corpus)
    again = run("ingest", folder, "--corpus", corpus)
    assert "3 unchanged; 0 passages embedded" in again.stdout
    assert "a.md" not in again.stdout
    (folder / "a.md").write_text("# a\n\nThe word of the day is otter.\n")
    (folder / "b.md").unlink()
    third = run("ingest", folder, "--corpus", corpus)
    assert "1 updated, 1 unchanged, 1 removed" in third.stdout


def test_json_is_the_list_of_files_and_nothing_else(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("")
    result = run("ingest", documents, tmp_path / "x.md", "--corpus", tmp_path / "c", "--json")
    rows = {row["source"]: row for row in json.loads(result.stdout)}
    assert rows["rivers.md"]["status"] == "added"
    assert rows["rivers.md"]["chunks"] > 1
    assert rows["x.md"]["status"] == "failed"
    assert rows["x.md"]["reason"].startswith("empty")
    assert set(rows["x.md"]) == {"source", "status", "reason", "documents", "chunks", "notes"}


def test_a_path_that_does_not_exist_is_the_users_mistake(run: Run, documents: Path, tmp_path: Path) -> None:
    result = run("ingest", documents, tmp_path / "missing", "--corpus", tmp_path / "c")
    assert result.exit_code == 2
    assert "missing" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "c").exists()


def test_nothing_taken_in_is_a_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("")
    result = run("ingest", tmp_path / "empty.md", "--corpus", tmp_path / "c")
    assert result.exit_code == 1
    assert "No file could be taken in" in result.stderr


def test_an_empty_folder_is_a_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    result = run("ingest", tmp_path / "d", "--corpus", tmp_path / "c")
    assert result.exit_code == 1
    assert "no file to take in" in result.stderr


def test_failures_in_a_corpus_that_holds_something_are_no_failure(run: Run, documents: Path, tmp_path: Path) -> None:
    run("ingest", documents, "--corpus", tmp_path / "c")
    (tmp_path / "empty.md").write_text("")
    assert run("ingest", tmp_path / "empty.md", "--corpus", tmp_path / "c").exit_code == 0


def test_chunk_sizes_are_three_numbers(run: Run, documents: Path, tmp_path: Path) -> None:
    for sizes in ("128", "a,b,c", "1,2", "1,2,3,4", ""):
        result = run("ingest", documents, "--corpus", tmp_path / "c", "--chunk-sizes", sizes)
        assert result.exit_code == 2
        assert "--chunk-sizes" in result.stderr
    result = run("ingest", documents, "--corpus", tmp_path / "c", "--chunk-sizes", "128,64,32", "--json")
    assert result.exit_code == 0


def test_sizes_that_make_no_tree_are_the_users_mistake(run: Run, documents: Path, tmp_path: Path) -> None:
    result = run("ingest", documents, "--corpus", tmp_path / "c", "--chunk-sizes", "128,512,2048")
    assert result.exit_code == 2


def test_another_embedder_is_refused(run: Run, documents: Path, corpus: Path) -> None:
    result = run("ingest", documents, "--corpus", corpus, "--embedder", "nonsense")
    assert result.exit_code == 2
    assert "nonsense" in result.stderr


def test_access_tags_hide_documents_from_others(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Vault\n\nThe vault opens with the number 4711.\n")
    run("ingest", documents, "--corpus", tmp_path / "c")
    run("ingest", tmp_path / "secret.md", "--corpus", tmp_path / "c", "--access", "board")
    search = ("search", "the number that opens the vault", "--corpus", tmp_path / "c", "--json")
    assert "4711" not in run(*search).stdout
    assert "4711" in run(*search, "--set", 'access=["board"]').stdout


def test_the_corpus_may_come_from_the_environment(run: Run, documents: Path, tmp_path: Path) -> None:
    result = run("ingest", documents, env={"ANABRANCH_CORPUS": str(tmp_path / "from-env")})
    assert result.exit_code == 0
    assert (tmp_path / "from-env").is_dir()


def committed(corpus: Path) -> int:
    """Return how many documents are in the database by now."""
    try:
        with closing(sqlite3.connect(f"file:{corpus / 'corpus.db'}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_ctrl_c_leaves_a_good_corpus_and_says_so(run: Run, tmp_path: Path) -> None:
    folder, corpus = tmp_path / "d", tmp_path / "c"
    folder.mkdir()
    # Several batches of embedding: the signal has to come while there is work left.
    files = 600
    for number in range(files):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Fact {number} is about otters and owls. " * 3)
    command = [sys.executable, "-m", "anabranch.cli", "ingest", str(folder), "--corpus", str(corpus)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while committed(corpus) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted. The corpus is good" in said
    assert "Traceback" not in said
    done = committed(corpus)
    assert 2 <= done < files
    assert run("corpus", "verify", "--corpus", corpus).exit_code == 0
    again = run("ingest", folder, "--corpus", corpus)
    assert f"{files - done} added, {done} unchanged" in again.stdout

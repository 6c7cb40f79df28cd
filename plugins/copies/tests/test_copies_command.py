"""`anabranch corpus export` and `import` as a person meets them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Run, _clean_environment, _commands_are_built_once, corpus, documents, run

__all__ = ["_clean_environment", "_commands_are_built_once", "corpus", "documents", "run"]


def test_what_cannot_be_mended_is_exported(run: Run, corpus: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(corpus, tmp_path / "corpus"))
    content = bytearray((own / "corpus.db").read_bytes())
    with closing(sqlite3.connect(own / "corpus.db")) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks'").fetchone()
    content[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    (own / "corpus.db").write_bytes(content)
    found = run("corpus", "verify", "--corpus", own)
    assert found.exit_code == 1
    assert "anabranch corpus export" in found.stdout
    saved = run("corpus", "export", "--corpus", own, "--output", tmp_path / "saved.jsonl")
    assert saved.exit_code == 1
    assert "bees.md: database disk image is malformed" in saved.stderr
    assert run("corpus", "import", tmp_path / "saved.jsonl", "--corpus", tmp_path / "new").exit_code == 0


def test_a_corpus_goes_out_and_comes_back(run: Run, corpus: Path, tmp_path: Path) -> None:
    file, new = tmp_path / "out.jsonl", tmp_path / "new"
    out = run("corpus", "export", "--corpus", corpus, "--output", file, "--vectors")
    assert (out.exit_code, out.stdout) == (0, "")
    assert "Exported 3 documents" in out.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".*.part"))
    back = run("corpus", "import", file, "--corpus", new)
    assert back.exit_code == 0
    assert "3 added, 0 updated, 0 unchanged, 0 bad lines; 0 passages embedded" in back.stdout
    assert run("corpus", "verify", "--corpus", new).exit_code == 0
    again = json.loads(run("corpus", "import", file, "--corpus", new, "--json").stdout)
    assert (again["unchanged"], again["bad"], again["interrupted"]) == (3, [], False)
    question = ("search", "waggle dance", "--json", "--corpus")
    assert json.loads(run(*question, new).stdout) == json.loads(run(*question, corpus).stdout)


def test_through_a_pipe(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = run("corpus", "export", "--corpus", corpus)
    assert out.exit_code == 0
    assert [json.loads(line)["kind"] for line in out.stdout.splitlines()][0::6] == ["corpus", "file"]
    back = run("corpus", "import", "-", "--corpus", tmp_path / "new", stdin=out.stdout)
    assert back.exit_code == 0
    assert "3 added" in back.stdout


def test_bad_lines_are_told_of(run: Run, corpus: Path, tmp_path: Path) -> None:
    lines = run("corpus", "export", "--corpus", corpus).stdout.splitlines(keepends=True)
    (tmp_path / "bad.jsonl").write_text("".join([*lines[:2], "{\n", *lines[3:]]), encoding="utf-8")
    result = run("corpus", "import", tmp_path / "bad.jsonl", "--corpus", tmp_path / "new")
    assert result.exit_code == 1
    assert "- line 3: " in result.stdout
    assert "2 added" in result.stdout


def test_an_export_is_no_document(run: Run, corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    run("corpus", "export", "--corpus", corpus, "--output", file)
    result = run("ingest", file, "--corpus", tmp_path / "new", "--json")
    (row,) = json.loads(result.stdout)
    assert (row["status"], row["documents"]) == ("skipped", 0)
    assert "anabranch corpus import" in row["reason"]


@pytest.mark.parametrize("file", ["absent.jsonl", "."])
def test_a_file_that_cannot_be_read_is_the_users_mistake(run: Run, tmp_path: Path, file: str) -> None:
    result = run("corpus", "import", tmp_path / file, "--corpus", tmp_path / "new")
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr


def test_a_file_in_no_folder_is_the_users_mistake(run: Run, corpus: Path, tmp_path: Path) -> None:
    result = run("corpus", "export", "--corpus", corpus, "--output", tmp_path / "none" / "out.jsonl")
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_an_export_that_fails_leaves_the_file_that_was_there(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anabranch_copies.export import export_view as moving

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(moving, "export_corpus", fail)
    file = tmp_path / "out.jsonl"
    file.write_text("before", encoding="utf-8")
    assert run("corpus", "export", "--corpus", corpus, "--output", file).exit_code == 1
    assert file.read_text(encoding="utf-8") == "before"
    assert not list(tmp_path.glob(".*.part"))


def test_no_corpus_is_the_users_mistake(run: Run, tmp_path: Path) -> None:
    result = run("corpus", "export", "--corpus", tmp_path / "none")
    assert result.exit_code == 2
    assert "There is no corpus" in result.stderr
    assert not (tmp_path / "none").exists()

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from anabranch.cli.threads import thread_file
from tests.cli.conftest import Run, rows_of

FIRST = "What is a distributary?"


@pytest.fixture(scope="module")
def talked(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with two threads, one of which was left waiting."""
    from typer.testing import CliRunner

    from anabranch.cli.app import app
    from anabranch.ingestion.pipeline import ingest

    folder = tmp_path_factory.mktemp("talked") / "corpus"
    ingest([documents], folder)
    for arguments in (
        [FIRST, "--thread", "rivers"],
        ["Does it return to the main channel?", "--thread", "rivers"],
        ["Who decoded the waggle dance?", "--thread", "bees", "--set", "review=queries"],
    ):
        assert CliRunner().invoke(app, ["ask", *arguments, "--corpus", str(folder)]).exit_code == 0
    return folder


def test_the_list_is_of_all_the_latest_first(run: Run, talked: Path) -> None:
    rows = json.loads(run("threads", "list", "--corpus", talked, "--json").stdout)
    assert [(row["thread"], row["questions"]) for row in rows] == [("bees", 1), ("rivers", 2)]
    assert rows[1]["first"] == FIRST
    assert rows[0]["changed"] >= rows[1]["changed"]  # whole seconds
    shown = run("threads", "list", "--corpus", talked).stdout
    assert shown.index("bees") < shown.index("rivers")
    assert FIRST in shown


def test_a_conversation_with_its_sources(run: Run, talked: Path) -> None:
    shown = run("threads", "show", "rivers", "--corpus", talked).stdout
    assert shown.index(f"> {FIRST}") < shown.index("leaves the main channel") < shown.index("> Does it return")
    assert "[1] rivers.md" in shown
    assert "waits for a reply" in run("threads", "show", "bees", "--corpus", talked).stdout


def test_an_export_has_a_line_for_each_and_is_its_owners(run: Run, talked: Path, tmp_path: Path) -> None:
    out = tmp_path / "threads.jsonl"
    assert run("threads", "export", "--corpus", talked, "--output", out).exit_code == 0
    bees, rivers = rows_of(out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert (bees["thread"], bees["turns"][0]["answer"]) == ("bees", "")
    turn = rivers["turns"][0]
    assert (turn["question"], turn["abstained"]) == (FIRST, False)
    assert turn["sources"][0]["source"] == "rivers.md"
    assert json.loads(run("threads", "show", "rivers", "--corpus", talked, "--json").stdout) == rivers
    assert [json.loads(run("threads", "export", "riv*", "--corpus", talked).stdout)] == [rivers]


def test_what_is_deleted_is_gone_from_the_file(run: Run, talked: Path, tmp_path: Path) -> None:
    copy = tmp_path / "corpus"
    shutil.copytree(talked, copy)
    shutil.copy(thread_file(str(talked)), thread_file(str(copy)))
    assert b"distributary" in thread_file(str(copy)).read_bytes()
    result = run("threads", "delete", "riv*", "--corpus", copy)
    assert result.stdout == "Deleted 1 thread: rivers\n"
    assert [row["thread"] for row in json.loads(run("threads", "list", "--corpus", copy, "--json").stdout)] == ["bees"]
    for path in tmp_path.glob("corpus.threads.db*"):
        assert b"distributary" not in path.read_bytes()


@pytest.mark.parametrize("command", ["show", "delete", "export"])
def test_a_name_that_is_none_gets_the_nearest(run: Run, talked: Path, command: str) -> None:
    result = run("threads", command, "river", "--corpus", talked)
    assert result.exit_code == 2
    assert "Did you mean 'rivers'?" in result.stderr
    assert len(json.loads(run("threads", "list", "--corpus", talked, "--json").stdout)) == 2


def test_a_corpus_without_threads_gets_no_file(run: Run, tmp_path: Path) -> None:
    result = run("threads", "list", "--corpus", tmp_path / "c")
    assert result.exit_code == 0
    assert "anabranch chat" in result.stdout
    assert run("threads", "delete", "x", "--corpus", tmp_path / "c").exit_code == 2
    assert list(tmp_path.iterdir()) == []

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.document_folder import MAX_FAILED, default_corpus
from anabranch.ingestion.ingest_report import IngestReport
from tests.cli.conftest import RIVERS, Run

QUESTION = "What is an anabranch of a river?"


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "rivers.md").write_text(RIVERS, encoding="utf-8")
    return folder


def test_a_folder_is_taken_in_and_answered_from_and_the_second_question_embeds_nothing(
    run: Run, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run("ask", QUESTION, "--docs", papers)
    assert first.exit_code == 0, first.stderr
    assert "rejoins it downstream" in first.stdout
    assert first.stderr == f"{papers}: 1 added. Corpus: {papers}.corpus\n"
    again = run("ask", QUESTION, "-d", papers, "--json")
    assert json.loads(again.stdout)["citations"]
    assert "1 unchanged" in again.stderr
    (papers / "bees.md").write_text("# Bees\n\nThe queen of the bees lays 1,500 eggs a day.\n")
    monkeypatch.chdir(papers.parent)
    third = run("ask", "How many eggs does the queen lay?", "--docs", "papers")
    assert "1,500" in third.stdout
    assert third.stderr == f"papers: 1 added, 1 unchanged. Corpus: {papers}.corpus\n"


def test_a_file_that_cannot_be_read_is_named_and_the_answer_comes(run: Run, papers: Path) -> None:
    for number in range(MAX_FAILED + 2):
        (papers / f"broken{number}.pdf").write_bytes(b"%PDF-1.4 broken")
    done = run("ask", QUESTION, "--docs", papers)
    assert done.exit_code == 0
    assert "rejoins it downstream" in done.stdout
    assert done.stderr.count("Not read: broken") == MAX_FAILED
    assert "Not read: 2 files more." in done.stderr
    assert f"1 added, {MAX_FAILED + 2} failed. Corpus:" in done.stderr


def test_without_one_file_that_can_be_read_there_is_no_answer(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    assert "holds no document" in run("ask", QUESTION, "--docs", tmp_path / "d").stderr
    (tmp_path / "d" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    done = run("ask", QUESTION, "--docs", tmp_path / "d")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "anabranch ingest" in done.stderr
    missing = run("ask", QUESTION, "--docs", tmp_path / "nowhere")
    assert missing.exit_code == 2
    assert "nowhere" in missing.stderr


@pytest.mark.parametrize("mistake", [["ask", " "], ["ask", "x", "--set", "topk=3"], ["chat", "--set", "topk=3"]])
def test_a_mistake_is_found_before_a_folder_is_read(run: Run, papers: Path, mistake: list[str]) -> None:
    assert run(*mistake, "--docs", papers).exit_code == 2
    assert [each.name for each in papers.parent.iterdir()] == ["papers"]


def test_a_corpus_that_is_named_is_used(run: Run, papers: Path, tmp_path: Path) -> None:
    done = run("ask", QUESTION, "--docs", papers, "--corpus", tmp_path / "c")
    assert f"Corpus: {tmp_path / 'c'}" in done.stderr
    assert not (tmp_path / "papers.corpus").exists()


def test_a_chat_takes_a_folder_in_as_well(run: Run, papers: Path) -> None:
    done = run("chat", "--docs", papers, stdin=f"{QUESTION}\n")
    assert "rejoins it downstream" in done.stdout
    assert f"Corpus: {papers}.corpus" in done.stderr


def test_ctrl_c_while_a_folder_is_taken_in_asks_nothing(
    run: Run, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = IngestReport(interrupted=True, left=3)

    def ingest(*given: Any, **options: Any) -> IngestReport:
        return stopped

    monkeypatch.setattr("anabranch.ingestion.pipeline.ingest", ingest)
    done = run("ask", QUESTION, "--docs", papers)
    assert (done.exit_code, done.stdout) == (130, "")
    assert "3 files left. Run the same command to continue" in done.stderr


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", ".local/share"),
        ("darwin", "Library/Application Support"),
        ("win32", "AppData/Local"),
    ],
)
def test_where_nothing_may_be_written_beside_it_the_corpus_is_in_the_users_data_folder(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, folder: str
) -> None:
    assert default_corpus(papers) == tmp_path / "papers.corpus"
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the tests may run as root, who may write anywhere
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    found = default_corpus(papers)
    assert found.parent == tmp_path / "home" / folder / "anabranch"
    assert found.name.startswith("papers-")
    (tmp_path / "other" / "papers").mkdir(parents=True)
    assert default_corpus(tmp_path / "other" / "papers").name != found.name
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_corpus(Path("/")).parent == tmp_path / "data" / "anabranch"

"""Queued ingestion on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch_postgres.queue.queue_protocol import QueueState
from anabranch_postgres.queue.queue_view import describe_state
from plugins.postgres.tests.conftest import corpus as address
from tests.cli.conftest import Run, _clean_environment, _commands_are_built_once, corpus, documents, run
from tests.faults.models import make_model

__all__ = ["_clean_environment", "_commands_are_built_once", "address", "corpus", "documents", "run"]

pytestmark = pytest.mark.loopback


def test_queue_work_and_watch(run: Run, address: str, documents: Path, tmp_path: Path) -> None:
    model = make_model(tmp_path / "model")
    (tmp_path / "empty.txt").touch()
    paths = (documents, tmp_path / "empty.txt")
    queued = run("ingest", *paths, "--corpus", address, "--embedder", model, "--queue")
    assert queued.exit_code == 0
    assert "4 files queued" in queued.stdout
    assert f"anabranch work --corpus '{address.replace(':@', ':***@')}'" in queued.stdout
    before = json.loads(run("corpus", "stats", "--watch", "--json", "--corpus", address).stdout)
    assert (before["todo"], before["done"]) == (4, 0)
    worked = run("work", "--corpus", address)
    assert worked.exit_code == 0
    assert "3 added, 1 failed" in worked.stdout
    assert "empty.txt: empty:" in worked.stderr
    watched = run("corpus", "stats", "--watch", "--corpus", address).stdout.splitlines()
    assert watched[0].startswith("0 waiting, 0 running at 0 workers, 3 done, 1 failed; 3 files and")
    assert watched[1].startswith("empty.txt: empty:")
    again = run("ingest", documents, "--corpus", address, "--queue", "--json")
    assert {row["status"] for row in json.loads(again.stdout)} == {"unchanged"}


def test_the_queue_removes_most_of_a_corpus_only_when_asked_to(run: Run, address: str, tmp_path: Path) -> None:
    model, folder = make_model(tmp_path / "model"), tmp_path / "d"
    folder.mkdir()
    for number in range(21):
        (folder / f"{number}.txt").write_text(f"On day {number} the gauge stood still.")
    run("ingest", folder, "--corpus", address, "--embedder", model)
    for path in folder.iterdir():
        path.unlink()
    refused = run("ingest", folder, "--corpus", address, "--queue")
    assert refused.exit_code == 1
    assert "--remove-missing" in refused.stderr
    assert run("ingest", folder, "--corpus", address, "--queue", "--json").exit_code == 1
    removed = run("ingest", folder, "--corpus", address, "--queue", "--remove-missing")
    assert (removed.exit_code, "21 removed" in removed.stdout) == (0, True)


def test_a_folder_has_no_queue(run: Run, corpus: Path, documents: Path) -> None:
    for arguments in (["work"], ["ingest", documents, "--queue"], ["corpus", "stats", "--watch"]):
        failed = run(*arguments, "--corpus", corpus)
        assert failed.exit_code == 2
        assert "postgresql://" in failed.stderr


def test_a_line_of_the_queue() -> None:
    state = QueueState(3, 2, 1, 0, 2, 70, 5, published=False)
    assert describe_state(state) == (
        "3 waiting, 2 running at 2 workers, 1 done, 0 failed; 5 files and 70 passages in the last minute; "
        "not published yet"
    )

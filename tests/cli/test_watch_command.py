"""`ingest --watch` as people run it: in a process of its own, on a folder in which things happen."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.store.maintenance import documents, verify
from anabranch.store.write_lock import writing
from tests.cli.conftest import Run

PATIENCE = 600
"""Seconds for what takes two or three on a machine that has nothing else to do."""


class Watching:
    """The command, with what it prints as it comes."""

    def __init__(self, corpus: Path, *arguments: object) -> None:
        command = [sys.executable, "-m", "anabranch.cli", "ingest", "--watch", "--corpus", corpus, *arguments]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")}
        self.process = subprocess.Popen(
            [str(each) for each in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            start_new_session=True,
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def until(self, *parts: str) -> str:
        """Return the first line with all of these in it, from where it was read to."""
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                pytest.fail(f"{parts} did not come; so far: {self.said}")
            self.said.append(line)
            if all(part in line for part in parts):
                return line

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "notes"
    home.mkdir()
    (home / "bees.md").write_text("# Bees\n\nBees dance.\n", encoding="utf-8")
    return home


@pytest.fixture
def watching(tmp_path: Path, folder: Path) -> Iterator[Watching]:
    started = Watching(tmp_path / "corpus", folder)
    yield started
    started.close()


def sources(corpus: Path) -> set[str]:
    return {row.source for row in documents(corpus)}


def test_what_happens_in_the_folder_happens_in_the_corpus(watching: Watching, folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    watching.until("added", "bees.md")
    watching.until("Watching", str(folder))

    (folder / "owls.md").write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
    watching.until("added", "owls.md")

    (folder / "owls.md").write_text("# Owls\n\nOwls hunt at dusk, too.\n", encoding="utf-8")
    watching.until("updated", "owls.md")

    (folder / ".owls.md.swp").write_text("x", encoding="utf-8")
    (folder / "owls.md~").write_text("x", encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    watching.until("failed", "broken.pdf")

    (folder / "owls.md").rename(folder / "night owls.md")
    watching.until("removed", "owls.md")
    assert sources(corpus) == {"bees.md", "night owls.md"}

    (folder / "broken.pdf").unlink()
    (folder / "bees.md").unlink()
    watching.until("removed", "bees.md")
    assert watching.stop() == 130
    watching.until("Stopped watching")
    assert sum("broken.pdf" in line for line in watching.said) == 1
    assert sources(corpus) == {"night owls.md"}
    assert verify(corpus) == []


def test_a_corpus_that_is_being_written_to_is_waited_for(watching: Watching, folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    watching.until("Watching")
    with writing(corpus):
        (folder / "owls.md").write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
        watching.until("is being written to by process", f"{os.getpid()}", "Waiting")
        assert sources(corpus) == {"bees.md"}
    watching.until("added", "owls.md")
    assert sources(corpus) == {"bees.md", "owls.md"}


def test_a_folder_that_goes_loses_nothing(watching: Watching, folder: Path, tmp_path: Path) -> None:
    watching.until("Watching")
    folder.rename(tmp_path / "aside")
    watching.until("gone; nothing is done until it is back")
    assert sources(tmp_path / "corpus") == {"bees.md"}
    (tmp_path / "aside" / "owls.md").write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
    (tmp_path / "aside").rename(folder)
    watching.until("added", "owls.md")
    assert sources(tmp_path / "corpus") == {"bees.md", "owls.md"}


def test_json_is_a_list_per_run(tmp_path: Path, folder: Path) -> None:
    started = Watching(tmp_path / "corpus", folder, folder / "bees.md", "--json")
    try:
        started.until('"added"')
        started.until("Watching")
        (folder / "owls.md").write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
        rows: list[dict[str, Any]] = json.loads(started.until("owls.md"))
    finally:
        started.close()
    assert [(row["source"], row["status"]) for row in rows] == [("owls.md", "added")]


def test_without_a_folder_there_is_nothing_to_watch(run: Run, tmp_path: Path) -> None:
    for path, said in (("https://example.org/", "needs a file or a folder"), (tmp_path / "absent", "nothing at")):
        result = run("ingest", "--watch", path, "--corpus", tmp_path / "corpus")
        assert result.exit_code == 2
        assert said in result.stderr
    assert not (tmp_path / "corpus").exists()

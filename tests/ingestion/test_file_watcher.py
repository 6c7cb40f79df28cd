"""Changes are noticed once they are over, and nothing else is."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.errors import UserError
from anabranch.ingestion.file_watcher import changes

PATIENCE = 600
"""Seconds for something that takes less than one on a machine that has nothing else to do."""


class Watched:
    """A generator in a thread of its own, because it never ends."""

    def __init__(self, paths: list[Path], skip: tuple[Path, ...] = (), settle: float = 0.2) -> None:
        self._found: queue.Queue[set[Path]] = queue.Queue()
        self.told: list[str] = []
        steps = changes(paths, skip=skip, told=self.told.append, settle=settle)
        assert next(steps) == set()
        self._thread = threading.Thread(target=self._run, args=(steps,), daemon=True)
        self._thread.start()

    def _run(self, steps: Iterator[set[Path]]) -> None:
        for found in steps:
            self._found.put(found)

    def next(self) -> set[str]:
        return {path.name for path in self._found.get(timeout=PATIENCE)}

    def drain(self) -> None:
        while not self._found.empty():
            self._found.get()

    def is_silent(self) -> bool:
        return self._found.empty()

    def until(self, *names: str) -> set[str]:
        """Return what came up to these names; what is written in several steps may come in several batches."""
        found: set[str] = set()
        while not set(names) <= found:
            found |= self.next()
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "watched"
    (home / "deep" / "er").mkdir(parents=True)
    (home / "a.md").write_text("a")
    return home


def test_what_is_added_changed_renamed_and_deleted_is_noticed(folder: Path) -> None:
    watched = Watched([folder])
    (folder / "deep" / "er" / "b.md").write_text("b")
    assert watched.until("b.md") == {"b.md"}
    (folder / "a.md").write_text("other")
    assert watched.until("a.md") == {"a.md"}
    (folder / "a.md").rename(folder / "c.md")
    assert watched.until("a.md", "c.md") == {"a.md", "c.md"}
    (folder / "c.md").unlink()
    assert watched.until("c.md") == {"c.md"}
    (folder / "new" / "in").mkdir(parents=True)
    (folder / "new" / "in" / "d.md").write_text("d")
    assert watched.until("new") <= {"new", "in", "d.md"}


def test_many_changes_at_once_come_together(folder: Path) -> None:
    watched = Watched([folder], settle=2.0)  # a busy machine may pause between two of them
    names = [f"{n}.md" for n in range(200)]
    for name in names:
        (folder / name).write_text(name)
    assert watched.next() == set(names)


def test_what_is_nobodys_document_is_not_noticed(folder: Path) -> None:
    corpus = folder / "c"
    beside = folder / "c.threads.db"
    (corpus / "segments").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "node_modules").mkdir()
    watched = Watched([folder], skip=(corpus, beside))
    for name in (
        "a.md~", "~$report.docx", "#a.md#", ".a.md.swp", "x.tmp", "y.part", "z.crdownload", "4913", ".hidden",
        ".git/HEAD", "node_modules/x.md", "c/corpus.db", "c/segments/x.npy", "c.threads.db", "a.md___jb_tmp___",
        "a.md.sb-1234-abcd",
    ):  # fmt: skip
        (folder / name).write_text("x")
    (folder / "c.md").write_text("the corpus is called c, and this is not in it")
    assert watched.next() == {"c.md"}


def test_an_editor_that_writes_beside_and_renames_is_one_change(folder: Path) -> None:
    watched = Watched([folder])
    (folder / "a.md~").write_text("a")
    (folder / ".a.md.swp").write_text("x")
    (folder / "a.md.tmp").write_text("new")
    os.replace(folder / "a.md.tmp", folder / "a.md")
    (folder / ".a.md.swp").unlink()
    assert watched.next() == {"a.md"}


def test_single_files_are_watched_and_their_neighbours_are_not(folder: Path) -> None:
    watched = Watched([folder / "a.md"])
    (folder / "b.md").write_text("b")
    (folder / "new.md").write_text("new")
    os.replace(folder / "new.md", folder / "a.md")
    assert watched.next() == {"a.md"}
    (folder / "a.md").unlink()
    assert watched.next() == {"a.md"}
    (folder / "a.md").write_text("back")
    assert watched.until("a.md") == {"a.md"}


def test_a_folder_and_a_file_elsewhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "single.md").write_text("x")
    watched = Watched([folder, tmp_path / "single.md"])
    (tmp_path / "single.md").write_text("other words")
    (folder / "b.md").write_text("b")
    assert watched.until("single.md", "b.md") == {"single.md", "b.md"}


def test_a_folder_that_goes_is_waited_for(folder: Path) -> None:
    watched = Watched([folder])
    aside = folder.with_name("aside")
    folder.rename(aside)
    while not watched.told:
        threading.Event().wait(0.05)
    assert watched.told == [f"{folder}: gone; nothing is done until it is back."]
    watched.drain()
    shutil.copytree(aside, folder)
    watched.next()
    (folder / "b.md").write_text("b")
    assert "b.md" in watched.until("b.md")


def test_an_empty_folder_in_its_place_is_a_drive_that_was_unplugged(folder: Path) -> None:
    watched = Watched([folder])
    folder.rename(folder.with_name("aside"))
    folder.mkdir()
    while not watched.told:
        threading.Event().wait(0.05)
    threading.Event().wait(1.5)
    assert watched.is_silent()
    (folder / "b.md").write_text("b")
    watched.next()
    (folder / "c.md").write_text("c")
    assert "c.md" in watched.until("c.md")


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is nothing at"):
        next(changes([tmp_path / "absent"]))

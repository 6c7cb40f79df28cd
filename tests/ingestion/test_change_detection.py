"""Which files have to be read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.ingestion import change_detection as arrivals
from anabranch.ingestion import change_detection as stamps
from anabranch.ingestion.change_detection import Arrival, ChangeCheck, Unchanged
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.store.local_store import LocalWriter
from tests.ingestion.ingest_runs import take_in


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment is 20 ms long instead of an hour."""
    monkeypatch.setattr(stamps, "_MARGIN", 20_000_000)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text("Herons fish.", encoding="utf-8")
    time.sleep(0.1)
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


@pytest.fixture
def writer(corpus: Path, note: Path) -> Iterator[LocalWriter]:
    take_in([note], corpus)
    with closing(LocalWriter(corpus)) as writer:
        yield writer


def look(writer: LocalWriter, corpus: Path, found: FoundFile, *access: str) -> Arrival | Unchanged:
    return ChangeCheck(writer, access).look(7, found)


def test_a_file_that_is_as_it_was_is_not_even_opened(
    writer: LocalWriter, corpus: Path, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(arrivals, "sha256_of")
    seen = look(writer, corpus, FoundFile(note, "note.txt"))
    assert isinstance(seen, Unchanged)
    assert (seen.documents, seen.chunks, seen.is_refreshed) == (1, 3, False)


def test_a_file_that_was_touched_is_hashed_and_stamped_anew(writer: LocalWriter, corpus: Path, note: Path) -> None:
    before = writer.file(str(note))
    os.utime(note, (1, 1))
    time.sleep(0.1)
    seen = look(writer, corpus, FoundFile(note, "note.txt"))
    assert isinstance(seen, Unchanged)
    assert seen.is_refreshed
    assert before is not None
    assert seen.record._replace(stamp=before.stamp) == before


def test_a_change_of_the_same_length_and_time_is_found(writer: LocalWriter, corpus: Path, note: Path) -> None:
    before = note.stat()
    note.write_text("Swifts rest.", encoding="utf-8")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    seen = look(writer, corpus, FoundFile(note, "note.txt"))
    assert isinstance(seen, Arrival)
    assert (seen.number, seen.source, seen.size, seen.held) == (7, "note.txt", 12, 1)


def test_what_was_removed_from_the_corpus_is_read_again(writer: LocalWriter, corpus: Path, note: Path) -> None:
    writer.remove_documents([row[0] for row in writer.all("SELECT doc_id FROM documents")])
    assert isinstance(look(writer, corpus, FoundFile(note, "note.txt")), Arrival)


def test_other_tags_make_it_be_read_again_and_none_keep_those_it_has(
    writer: LocalWriter, corpus: Path, note: Path
) -> None:
    seen = look(writer, corpus, FoundFile(note, "note.txt"), "staff", "board", "staff")
    assert isinstance(seen, Arrival)
    assert seen.record.access == ("board", "staff")
    assert isinstance(look(writer, corpus, FoundFile(note, "note.txt")), Unchanged)


def test_a_copy_is_known_by_its_content_alone(writer: LocalWriter, corpus: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Herons fish.</p>", encoding="utf-8")
    found = FoundFile(page, "https://example.org/", identity="https://example.org/", is_copy=True)
    seen = look(writer, corpus, found)
    assert isinstance(seen, Arrival)
    assert (seen.record.path, seen.record.stamp, len(seen.record.sha256)) == ("https://example.org/", "", 64)
    page.write_text("<p>Swifts sleep.</p>", encoding="utf-8")
    assert not seen.has_changed()


def test_a_file_of_an_unknown_kind_is_not_opened(
    writer: LocalWriter, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "film.mkv").touch()
    monkeypatch.delattr(arrivals, "sha256_of")
    seen = look(writer, corpus, FoundFile(tmp_path / "film.mkv", "film.mkv"))
    assert isinstance(seen, Arrival)
    assert (seen.record.sha256, seen.record.stamp) == ("", "")


def test_a_file_that_is_written_to_or_deleted_meanwhile_has_changed(
    writer: LocalWriter, corpus: Path, tmp_path: Path
) -> None:
    path = tmp_path / "log.txt"
    path.write_text("One.", encoding="utf-8")
    seen = look(writer, corpus, FoundFile(path, "log.txt"))
    assert isinstance(seen, Arrival)
    assert not seen.has_changed()
    with path.open("a", encoding="utf-8") as file:
        file.write("Two.")
    assert seen.has_changed()
    path.unlink()
    assert seen.has_changed()


def test_a_file_that_is_not_there_is_an_error(writer: LocalWriter, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        look(writer, corpus, FoundFile(tmp_path / "absent.txt", "absent.txt"))

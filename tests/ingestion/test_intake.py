"""Files taken into the database: read by other processes, in order, within limits and in little memory."""

from __future__ import annotations

import json
import sqlite3
import time
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from anabranch.ingestion import change_detection as stamps
from anabranch.ingestion import intake as module
from anabranch.ingestion import safe_open as handles
from anabranch.ingestion.ingest_report import IngestReport
from anabranch.ingestion.isolation import process_pool as pool
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER
from anabranch.readers import ReadOptions
from anabranch.store import records as rows_module
from tests.ingestion.ingest_runs import Flat, take_in
from tests.ingestion.isolation.children import only_hangs

BOOK = Path(__file__).parent.parent / "samples"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "documents"
    home.mkdir()
    return home


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small a file is, another process reads it."""
    monkeypatch.setattr(pool, "_HERE_BYTES", -1)


def rows(corpus: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return connection.execute(sql).fetchall()


def statuses(report: IngestReport) -> list[tuple[str, str]]:
    return [(row.source, row.status) for row in report.rows]


def pdf(path: Path, *pages: str, password: str = "") -> Path:
    document = pymupdf.open()
    for page in pages:
        document.new_page().insert_text((72, 72), page)  # type: ignore[attr-defined]
    secret = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": password} if password else {}
    document.save(path, **secret)
    return path


def lines(path: Path, count: int, length: int = 200) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            text = f"Line {number} says: " + "the gauge stood still. " * (length // 23)
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
    return path


def test_documents_and_rows_are_in_the_order_of_the_files(folder: Path, corpus: Path, remote: None) -> None:
    for number in range(12):
        if number % 3:
            (folder / f"{number:02}.txt").write_text(f"Note {number}. " * (1 + 200 * (number % 2)), encoding="utf-8")
        else:
            pdf(folder / f"{number:02}.pdf", *(f"Page {page} of report {number}." for page in range(3 * number + 1)))
    report = take_in([folder], corpus)
    names = sorted(path.name for path in folder.iterdir())
    assert statuses(report) == [(name, "added") for name in names]
    assert [source for (source,) in rows(corpus, "SELECT source FROM documents ORDER BY number")] == names


def test_the_database_is_the_same_whoever_reads_and_cuts(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    lines(folder / "a.jsonl", 20)
    (folder / "b.md").write_text(
        "# Weirs\n\nThe weir was built in 1848.\n\n## Herons\n\nThey fish. " * 9, encoding="utf-8"
    )
    # All but `born`, which no two corpora share: the checksum covers the other columns.
    tables = "SELECT number, checksum FROM documents ORDER BY number", "SELECT * FROM chunks ORDER BY chunk_id"
    found = []
    for corpus, here, embedder in (
        (tmp_path / "here", 1 << 20, None),
        (tmp_path / "there", -1, None),
        (tmp_path / "cut here", -1, Flat()),
    ):
        monkeypatch.setattr(pool, "_HERE_BYTES", here)
        take_in([folder], corpus, embedder=embedder)
        found.append([rows(corpus, sql) for sql in tables])
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) == 21


def test_a_file_that_hangs_is_reported_and_the_others_are_taken_in(
    folder: Path, corpus: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_hangs(monkeypatch, "b.pdf")
    damaged = bytearray((shared / "data/awkward/scanned__jbig2.pdf").read_bytes())
    damaged[25088] = 0x1C
    (folder / "b.pdf").write_bytes(damaged)
    pdf(folder / "a.pdf", "About herons.")
    pdf(folder / "c.pdf", "About swifts.")
    report = take_in([folder], corpus, limits=Limits(seconds=1), options=ReadOptions(ocr=False))
    assert statuses(report) == [("a.pdf", "added"), ("b.pdf", "failed"), ("c.pdf", "added")]
    assert report.rows[1].reason.startswith("timeout: ")
    assert len(rows(corpus, "SELECT * FROM documents")) == 2


def test_passwords_reach_the_readers(folder: Path, corpus: Path) -> None:
    pdf(folder / "a.pdf", "About herons.", password="open sesame")
    assert take_in([folder], corpus).rows[0].reason.startswith("encrypted")
    report = take_in([folder], corpus, options=ReadOptions(passwords=("wrong", "open sesame")))
    assert statuses(report) == [("a.pdf", "added")]


def test_unreadable_lines_are_listed_up_to_a_number(folder: Path, corpus: Path) -> None:
    (folder / "a.jsonl").write_text('{"id": "1", "text": "Herons fish."}\n' + "{\n" * 150, encoding="utf-8")
    report = take_in([folder], corpus)
    assert report.count("failed") == 101
    assert report.rows[-1].reason == "and 50 more of its parts"
    assert len(rows(corpus, "SELECT * FROM documents")) == 1


def test_of_two_lines_of_one_id_the_first_counts_and_the_other_is_told_of_each_time(folder: Path, corpus: Path) -> None:
    (folder / "a.jsonl").write_text('{"id": "1", "text": "One."}\n{"id": "1", "text": "Two."}', encoding="utf-8")
    for status in ("added", "unchanged"):
        report = take_in([folder], corpus)
        assert statuses(report) == [("a.jsonl#1", "failed"), ("a.jsonl", status)]
        assert report.rows[0].reason == "duplicate: the name occurs twice in the file; the first one counts"
    assert rows(corpus, "SELECT text FROM chunks WHERE level = 2") == [("One.",)]


def test_a_run_over_what_did_not_change_opens_no_file(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "_MARGIN", 20_000_000)
    (folder / "a.txt").write_text("About herons.", encoding="utf-8")
    (folder / "b.txt").write_text("About swifts.", encoding="utf-8")
    time.sleep(0.1)
    take_in([folder], corpus)
    (folder / "b.txt").write_text("About Swifts.", encoding="utf-8")
    for path in folder.iterdir():
        path.chmod(0o600)
    opened: list[str] = []
    open_real, path_open = handles.open_real, Path.open
    monkeypatch.setattr(handles, "open_real", lambda real: opened.append(real.name) or open_real(real))
    monkeypatch.setattr(
        Path, "open", lambda self, *args, **more: opened.append(self.name) or path_open(self, *args, **more)
    )
    embedder = Flat(MINILM_TOKENIZER)
    assert statuses(take_in([folder], corpus, embedder=embedder)) == [("a.txt", "unchanged"), ("b.txt", "updated")]
    # Other permissions are a change of the file, too: its content was looked at once more.
    assert set(opened) == {"a.txt", "b.txt"}
    time.sleep(0.1)
    take_in([folder], corpus, embedder=embedder)
    opened.clear()
    assert statuses(take_in([folder], corpus, embedder=embedder)) == [("a.txt", "unchanged"), ("b.txt", "unchanged")]
    assert opened == []


def test_a_file_that_changes_while_it_is_read_is_read_again(folder: Path, corpus: Path) -> None:
    log = folder / "a.txt"
    log.write_text("The first line.\n", encoding="utf-8")

    def write_on(stage: str, done: int, total: int, detail: str = "") -> None:
        if stage == "files" and done == 0:
            with log.open("a", encoding="utf-8") as file:
                file.write("One more line.\n")

    (row,) = take_in([folder], corpus, progress=write_on).rows
    assert row.notes == ("it changed while it was read; the next run reads it again",)
    assert rows(corpus, "SELECT sha256, stamp FROM files") == [("", "")]
    assert statuses(take_in([folder], corpus)) == [("a.txt", "unchanged")]
    assert rows(corpus, "SELECT sha256 != '' FROM files") == [(1,)]


def test_a_file_caught_while_it_is_rewritten_loses_no_document(folder: Path, corpus: Path) -> None:
    notes = lines(folder / "a.jsonl", 5)
    take_in([folder], corpus)
    lines(notes, 2)

    def write_on(stage: str, done: int, total: int, detail: str = "") -> None:
        if stage == "files" and done == 0:
            notes.touch()

    take_in([folder], corpus, progress=write_on)
    assert len(rows(corpus, "SELECT * FROM documents")) == 5
    take_in([folder], corpus)
    assert len(rows(corpus, "SELECT * FROM documents")) == 2


def test_the_model_is_loaded_while_the_first_file_is_read(folder: Path, corpus: Path) -> None:
    loaded: list[str] = []

    class Slow(Flat):
        def load(self) -> None:
            loaded.append("once")

    (folder / "a.md").write_text("# Herons", encoding="utf-8")
    take_in([folder], corpus, embedder=Slow(MINILM_TOKENIZER))
    assert loaded == []
    pdf(folder / "b.pdf", "About herons.")
    pdf(folder / "c.pdf", "About swifts.")
    take_in([folder], corpus, embedder=Slow(MINILM_TOKENIZER))
    assert loaded == ["once"]


def test_notes_of_one_file_are_bounded(folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NOTES", 0)
    (folder / "a.txt").write_bytes("Näin on".encode("utf-16-le"))
    (row,) = take_in([folder], corpus).rows
    assert row.notes == ()


def peak(folder: Path, corpus: Path) -> int:
    tracemalloc.start()
    try:
        take_in([folder], corpus)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_lines_of_a_file(
    folder: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_HELD_BYTES", 50_000)
    lines(folder / "a.jsonl", 300)
    take_in([folder], tmp_path / "first")  # what is loaded once and kept
    few = peak(folder, corpus)
    lines(folder / "a.jsonl", 1200)
    many = peak(folder, tmp_path / "another")
    assert rows(tmp_path / "another", "SELECT count(*) FROM documents") == [(1200,)]
    assert many < few + 300_000  # 350 bytes a line would be too much


def test_what_the_database_does_not_take_is_told_of_each_time_and_its_former_edition_stays(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"Note {name}.", encoding="utf-8")
    take_in([folder], corpus)
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"Note {name}, better.", encoding="utf-8")
    facts = rows_module.facts_of
    monkeypatch.setattr(
        "anabranch.store.corpus_database.facts_of",
        lambda grown, chunks: facts(grown, chunks) | ({"title": "\udce9"} if grown.document.source == "b.txt" else {}),
    )
    for expected in ("updated", "unchanged"):
        report = take_in([folder], corpus)
        assert statuses(report) == [
            ("a.txt", expected),
            ("b.txt", "failed"),
            ("b.txt", "unchanged"),
            ("c.txt", expected),
        ]
        assert "cannot be stored" in report.rows[1].reason
    texts = {text for (text,) in rows(corpus, "SELECT text FROM chunks WHERE level = 2")}
    assert texts == {"Note a, better.", "Note b.", "Note c, better."}

"""The database: whole documents, stable ids, what is kept per text."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Block, Document
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.records import Grown, content_digest, embedded_text

EMBEDDER = load_embedder("minilm")


def grown(text: str, **facts: object) -> Grown:
    document = Document("a.md", "A", tuple(Block(part) for part in text.split("\n\n")), **facts)  # type: ignore[arg-type]
    return Grown(document, grow(document, EMBEDDER, (64, 32, 16)), content_digest(document), "/a.md")


def ids(database: CorpusDatabase) -> set[str]:
    return {row[0] for row in database.all("SELECT chunk_id FROM chunks WHERE level = 2")}


def test_ids_are_stable_and_an_unchanged_chunk_keeps_its_own(tmp_path: Path) -> None:
    one = "Herons fish at dawn near the old weir in the river. They stand very still for hours on end."
    with closing(CorpusDatabase(tmp_path)) as database:
        database.write([grown(one)], [])
        first = ids(database)
        database.write([grown(one)], [])
        assert ids(database) == first
        database.write([grown(one + "\n\nA new paragraph at the very end of it, long enough for a leaf.")], [])
        assert len(ids(database) & first) >= len(first) - 1


def test_a_batch_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(CorpusDatabase(tmp_path)) as database:
        database.write([grown("One.")], [])
        changes = database.changes
        replace, texts = database._replace, iter(["Three.", "Two."])

        def fail(document: Grown) -> None:
            if next(texts) == "Two.":
                raise sqlite3.OperationalError("disk I/O error")
            replace(document)

        monkeypatch.setattr(database, "_replace", fail)
        with pytest.raises(sqlite3.OperationalError):
            database.write([grown("Three."), grown("Two.")], [])
        assert database.one("SELECT text FROM chunks WHERE level = 2")[0] == "One."
        assert database.changes == changes


@pytest.mark.parametrize("column", ["path", "digest"])
@pytest.mark.parametrize("value", [None, object(), "\udce9", 1 << 70])
def test_a_document_that_fits_no_row_costs_itself(tmp_path: Path, column: str, value: object) -> None:
    with closing(CorpusDatabase(tmp_path)) as database:
        broken = grown("Two.")
        object.__setattr__(broken, column, value)
        ((refused, why),) = database.write([grown("One."), broken], []).refused
        assert refused is broken
        assert why.startswith("it cannot be stored: ")
        assert database.one("SELECT text FROM chunks WHERE level = 2")[0] == "One."


def test_numbers_that_json_does_not_have_do_not_break_filters(tmp_path: Path) -> None:
    with closing(CorpusDatabase(tmp_path)) as database:
        database.write([grown("One.", metadata={"x": float("nan"), "y": [float("inf"), 1], "p": tmp_path, 3: 4})], [])
        assert database.one("SELECT json_extract(metadata, '$.y[1]') FROM documents")[0] == 1
        assert database.one("SELECT json_type(metadata, '$.x') FROM documents")[0] == "null"


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("A", "A > B", "A > B\ntext"),
        ("A", "B", "A > B\ntext"),
        ("A", "", "A\ntext"),
        ("", "", "text"),
    ],
)
def test_title_and_heading_stand_in_front(title: str, heading: str, expected: str) -> None:
    assert embedded_text(title, heading, " text\n\n") == expected


def test_what_stands_in_front_leaves_room_for_the_text() -> None:
    text = embedded_text("river " * 100, "water > " * 100, "the leaf itself")
    assert EMBEDDER.count([text])[0] < 120
    assert text.endswith("the leaf itself")

"""Reading and cutting in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.errors import ReadingError
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument, read_and_chunk
from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.readers import Failure, read
from anabranch.readers.heartbeat import heard_by

SIZES = (64, 32, 16)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"id": "1", "text": "Herons fish."}\n{\n{"id": "2", "text": "Swifts sleep."}', encoding="utf-8")
    return path


def test_documents_come_with_their_trees_and_failures_as_they_are(notes: Path) -> None:
    tokens = WordPieces()
    expected = [
        item if isinstance(item, Failure) else ChunkedDocument(item, grow(item, tokens, SIZES))
        for item in read(notes, "n")
    ]
    assert [*read_and_chunk(notes, "n", tokens=tokens, sizes=SIZES)] == expected
    assert [type(item) for item in expected] == [ChunkedDocument, Failure, ChunkedDocument]


def test_without_anything_to_count_with_there_are_no_trees(notes: Path) -> None:
    assert [item.tree for item in read_and_chunk(notes, "n") if isinstance(item, ChunkedDocument)] == [None, None]


class Failing(WordPieces):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def count(self, texts: object) -> list[int]:
        raise self.error


def test_a_document_that_cannot_be_cut_is_broken(notes: Path) -> None:
    with pytest.raises(ReadingError, match=r"cannot be cut into passages: ValueError: no count") as caught:
        list(read_and_chunk(notes, "n", tokens=Failing(ValueError("no\ncount"))))
    assert caught.value.reason == "broken"


def test_a_lack_of_memory_is_not_the_document_s_fault(notes: Path) -> None:
    with pytest.raises(MemoryError):
        list(read_and_chunk(notes, "n", tokens=Failing(MemoryError())))


def test_a_long_document_gives_signs_of_life_while_it_is_cut(tmp_path: Path) -> None:
    heard: list[None] = []
    (tmp_path / "a.txt").write_text("The weir was rebuilt in 1911. " * 20_000, encoding="utf-8")
    with heard_by(lambda: heard.append(None)):
        (item,) = read_and_chunk(tmp_path / "a.txt", "a", tokens=WordPieces(), sizes=SIZES)
    assert isinstance(item, ChunkedDocument)
    assert len(heard) > 5

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.errors import ReadingError
from anabranch.readers.document import Document, Failure
from anabranch.readers.jsonl import read_jsonl


def read(tmp_path: Path, *lines: object) -> list[Document | Failure]:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return list(read_jsonl(path, "notes.jsonl"))


def test_a_line_is_a_document(tmp_path: Path) -> None:
    line = {
        "id": "d1",
        "title": "T",
        "text": "One.\n\nTwo,\n  more.",
        "access": ["team", "hr"],
        "year": 2021,
        "x": {"y": [1]},
    }
    (document,) = read(tmp_path, line)
    assert isinstance(document, Document)
    assert (document.source, document.key, document.title) == ("notes.jsonl#d1", "d1", "T")
    assert [block.text for block in document.blocks] == ["One.", "Two,\n  more."]
    assert document.access == ("team", "hr")
    assert document.metadata == {"year": 2021, "x": {"y": [1]}}


def test_ids_may_be_numbers_beir_ids_or_missing(tmp_path: Path) -> None:
    documents = read(tmp_path, {"id": 7, "text": "a"}, {"_id": "b7", "text": "b"}, b"", {"text": "c"})
    assert [document.key for document in documents if isinstance(document, Document)] == ["7", "b7", "4"]
    assert isinstance(documents[2], Document)
    assert documents[2].title == "4"


@pytest.mark.parametrize("text", [{}, {"text": ""}, {"text": " \n"}, {"text": None}, {"text": "\u200b"}])
def test_where_there_is_no_text_the_title_is_what_a_document_says(tmp_path: Path, text: dict[str, object]) -> None:
    (document,) = read(
        tmp_path, {"_id": "1", "title": "Preliminary  Report-\nInternational Language", "year": 58, **text}
    )
    assert isinstance(document, Document)
    assert document.title == "Preliminary Report- International Language"
    assert [block.text for block in document.blocks] == [document.title]
    assert document.metadata == {"year": 58}


@pytest.mark.parametrize(
    ("line", "reason", "says"),
    [
        (b"{not json", "broken", "Expecting"),
        (b'{"id": "x", "text": "caf\xe9"}', "encoding", "UTF-8"),
        (b'{"id": "x", "text": "a", "score": NaN}', "broken", "NaN"),
        (b'{"text": "a", "access": ["hr"], "access": []}', "broken", "twice"),
        ('{"text": "a", "access": ["hr"], "acc\u200bess": []}'.encode(), "broken", "twice"),
        (b"[" * 100_000, "broken", "recursion"),
        ([1, 2], "broken", "object"),
        ({"id": "x"}, "broken", "empty"),
        ({"id": "x", "text": " \n"}, "broken", "empty"),
        ({"id": "x", "title": " ", "text": ""}, "broken", "empty"),
        ({"id": "x", "text": 5}, "broken", "string"),
        ({"id": "x", "title": "T", "text": 5}, "broken", "string"),
        ({"id": "x", "title": 5}, "broken", "string"),
        ({"id": ["x"], "text": "a"}, "broken", "id"),
        ({"id": True, "text": "a"}, "broken", "id"),
        ({"id": " ", "text": "a"}, "broken", "id"),
        ({"id": "x", "text": "a", "access": "hr"}, "broken", "access"),
        ({"id": "x", "text": "a", "access": None}, "broken", "access"),
        ({"id": "x", "text": "a", "access": ["hr", 3]}, "broken", "access"),
        ({"id": "x", "text": "a", "access": ["\u200b"]}, "broken", "access"),
    ],
)
def test_a_bad_line_fails_alone(tmp_path: Path, line: object, reason: str, says: str) -> None:
    first, failure, last = read(tmp_path, {"id": "first", "text": "a"}, line, {"id": "last", "text": "b"})
    assert isinstance(first, Document)
    assert isinstance(last, Document)
    assert isinstance(failure, Failure)
    assert (failure.source, failure.reason) == ("notes.jsonl:2", reason)
    assert says in failure.message
    assert "\n" not in failure.message


def test_text_and_metadata_are_cleaned(tmp_path: Path) -> None:
    (document,) = read(tmp_path, b'\xef\xbb\xbf{"id": "a", "text": "\\ud800x\\u200by", "t\\u200bag": ["p\\u202eq", 1]}')
    assert isinstance(document, Document)
    assert document.blocks[0].text == "xy"
    assert document.metadata == {"tag": ["pq", 1]}


def test_nothing_but_blank_lines_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, b"", b" ", b"")
    assert caught.value.reason == "empty"


def test_documents_stream(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"id": "a", "text": "x"}\n' + b"\xff" * 1000)
    stream = read_jsonl(path, "notes.jsonl")
    assert isinstance(next(stream), Document)
    assert isinstance(next(stream), Failure)


def test_an_endless_line_fails_alone_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "a", "text": "x"}\n{"id": "b", "text": "')
        for _ in range(96):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"id": "c", "text": "x"}\n' + b" " * (33 << 20))
    tracemalloc.start()
    try:
        first, second, third, last = read_jsonl(path, "notes.jsonl")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(first, Document)
    assert second == Failure("notes.jsonl:2", "too_large", "the line is longer than 32 MB; split it")
    assert isinstance(third, Document)
    assert isinstance(last, Failure)
    assert peak < 80 << 20


def test_a_large_file_streams(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    line = json.dumps({"text": "words " * 8000}).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(1050):
            file.write(line)
    assert path.stat().st_size > 48 << 20
    tracemalloc.start()
    try:
        count = sum(isinstance(found, Document) for found in read_jsonl(path, "notes.jsonl"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 1050
    assert peak < 2 << 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(st.dictionaries(st.sampled_from(["id", "title", "text", "access", "other"]), JSON), min_size=1, max_size=5)
)
def test_every_line_gives_a_document_or_a_failure(tmp_path: Path, records: list[dict[str, object]]) -> None:
    found = read(tmp_path, *records)
    assert len(found) == len(records)
    for item in found:
        if isinstance(item, Document):
            json.dumps(item.metadata, ensure_ascii=False, allow_nan=False).encode()
            assert item.blocks
            assert all(block.text.strip() for block in item.blocks)


@pytest.mark.parametrize("name", ["scifact", "codebase", "hotpotqa"])
def test_question_set_corpora(shared: Path, name: str) -> None:
    found = list(read_jsonl(shared / "data/retrieval" / name / "corpus.jsonl", "corpus.jsonl"))
    assert len(found) > 100
    assert [item for item in found if isinstance(item, Failure)] == []

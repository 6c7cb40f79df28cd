from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch.evaluation.queries import read_queries


def read(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "queries.jsonl"
    path.write_bytes(text.encode("utf-8"))
    return read_queries(path)


def test_both_spellings_are_read_and_order_is_kept(tmp_path: Path) -> None:
    lines = '{"_id": "b", "text": "second?", "metadata": {}}\n\n{"id": 7, "question": "first?"}\r\n'
    assert read(tmp_path, "\ufeff" + lines) == {"b": "second?", "7": "first?"}


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    assert read(tmp_path, '{"_id": "a", "text": "one\u2028two"}') == {"a": "one\u2028two"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2"),
        ("[1]", "not an object"),
        ('{"text": "x"}', "no '_id'"),
        ('{"_id": true, "text": "x"}', "no '_id'"),
        ('{"_id": " ", "text": "x"}', "no '_id'"),
        ('{"_id": "b", "text": " "}', "no 'text'"),
        ('{"_id": "b", "text": 3}', "no 'text'"),
        ('{"_id": "a", "text": "again"}', "earlier line"),
        ("[" * 100_000, "line 2"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(CollectionError, match=said) as caught:
        read(tmp_path, '{"_id": "a", "text": "fine"}\n' + line)
    assert "line 2" in str(caught.value)


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="and 7 more"):
        read(tmp_path, "x\n" * 12)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_queries_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CollectionError, match="holds no query"):
        read(tmp_path, text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xfa")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "latin"):
        with pytest.raises(CollectionError, match="cannot be read"):
            read_queries(path)

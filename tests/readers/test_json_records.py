from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.readers import Failure, read
from tests.readers.read_bytes import documents, reason, texts


def test_flat_records_are_a_table(tmp_path: Path) -> None:
    assert texts(tmp_path, "a.json", '[{"name": "a", "price": 1.5}, {"name": "b", "new": true}]') == [
        "| name | price | new |\n| a | 1.5 |  |\n| b |  | true |"
    ]


def test_other_records_are_paragraphs_also_inside_a_wrapping(tmp_path: Path) -> None:
    data = {"count": 1, "items": [{"name": "a", "tags": ["x", "y"], "at": {"city": "Halden"}}]}
    assert texts(tmp_path, "a.json", json.dumps(data)) == ["name: a\ntags: x, y\nat.city: Halden"]


def test_records_with_a_text_are_documents_with_access_tags(tmp_path: Path) -> None:
    (document,) = documents(
        tmp_path, "a.json", '[{"id": "a", "text": "some words", "access": ["staff"], "year": 2024}]'
    )
    assert (document.source, document.access, document.metadata) == ("a.json#a", ("staff",), {"year": 2024})


def test_a_record_without_a_text_says_its_title(tmp_path: Path) -> None:
    records = [{"id": 1, "title": "On herons"}, {"id": 2, "title": "Weirs", "text": "A weir."}, {"id": 3, "text": "x"}]
    records[0]["access"] = ["staff"]
    found = documents(tmp_path, "a.json", json.dumps(records))
    assert [(each.title, each.blocks[0].text, each.access) for each in found] == [
        ("On herons", "On herons", ("staff",)),
        ("Weirs", "A weir.", ()),
        ("3", "x", ()),
    ]


def test_access_that_is_no_list_or_stands_twice_is_not_public(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"text": "x", "access": "staff"}]')
    (found,) = read(tmp_path / "a.json", "a.json")
    assert isinstance(found, Failure)
    assert reason(tmp_path, "a.json", '[{"text": "x", "access": ["a"], "access": []}]') == "broken"


@pytest.mark.parametrize("data", ['{"name": "x", "dependencies": {"a": "1"}}', "{broken", "[1, 2]", "[" * 5000])
def test_what_is_no_list_of_records_stays_as_it_stands(tmp_path: Path, data: str) -> None:
    (document,) = documents(tmp_path, "package.json", data)
    assert document.blocks[0].text == data
    assert document.metadata["format"] == "code"


def test_binary_data_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.json", b"\x7fELF" + bytes(50)) == "broken"

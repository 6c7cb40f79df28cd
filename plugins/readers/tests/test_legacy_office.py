from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from plugins.readers.tests.compound_file import compound, word_97
from tests.readers.read_bytes import documents, reason


def test_paragraphs_of_an_old_word_document(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.doc", word_97("The pump was replaced.\nIn März the harbour froze."))
    assert [block.text for block in document.blocks] == ["The pump was replaced.", "In März the harbour froze."]
    assert document.metadata == {"format": "doc"}


@pytest.mark.parametrize("name", ["a.doc", "a.ppt"])
def test_damage_is_broken(tmp_path: Path, name: str) -> None:
    assert reason(tmp_path, name, "just prose") == "broken"
    assert reason(tmp_path, name, compound({"WordDocument": b"x" * 5000})) == "broken"


def test_without_the_extra_its_name_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "kreuzberg", None)
    with pytest.raises(ReadingError) as caught:
        documents(tmp_path, "a.doc", word_97("words"))
    assert caught.value.reason == "unsupported"
    assert "anabranch[legacy]" in caught.value.hint

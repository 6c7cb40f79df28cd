from __future__ import annotations

import io
import sys
from pathlib import Path

import docx
import pytest
from msoffcrypto.format.ooxml import OOXMLFile

from anabranch.errors import ReadingError
from anabranch.readers.document import ReadOptions
from tests.readers.read_bytes import documents, reason


@pytest.fixture(scope="module")
def protected() -> bytes:
    word, plain, made = docx.Document(), io.BytesIO(), io.BytesIO()
    word.add_paragraph("secret words")
    word.save(plain)
    OOXMLFile(plain).encrypt("tika", made)
    return made.getvalue()


def test_the_right_one_of_several_opens_it(tmp_path: Path, protected: bytes) -> None:
    (document,) = documents(tmp_path, "a.docx", protected, ReadOptions(passwords=("wrong", "tika")))
    assert [block.text for block in document.blocks] == ["secret words"]
    assert document.title == "a"


def test_without_it_the_file_is_encrypted(tmp_path: Path, protected: bytes) -> None:
    assert reason(tmp_path, "a.docx", protected) == "encrypted"
    assert reason(tmp_path, "a.docx", protected, ReadOptions(passwords=("wrong",))) == "encrypted"


def test_damage_is_no_crash(tmp_path: Path, protected: bytes) -> None:
    found = reason(tmp_path, "a.docx", protected[:5000], ReadOptions(passwords=("tika",)))
    assert found in {"broken", "encrypted"}


def test_without_the_extra_its_name_is_said(tmp_path: Path, protected: bytes, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "msoffcrypto", None)
    with pytest.raises(ReadingError) as caught:
        documents(tmp_path, "a.docx", protected, ReadOptions(passwords=("tika",)))
    assert "anabranch[passwords]" in caught.value.hint

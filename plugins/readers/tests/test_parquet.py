from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from plugins.readers.tests.format_samples import columns
from tests.readers.read_bytes import documents, reason


def test_rows_under_their_columns(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.parquet", columns())
    assert [block.text for block in document.blocks] == ["| name | price |\n| some words | 1.5 |\n| b |  |"]
    assert document.metadata == {"format": "parquet", "columns": ["name", "price"]}


@pytest.mark.parametrize("data", [b"PAR1 no table", columns()[:-20]])
def test_damage_is_broken(tmp_path: Path, data: bytes) -> None:
    assert reason(tmp_path, "a.parquet", data) == "broken"


def test_without_the_extra_its_name_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ReadingError) as caught:
        documents(tmp_path, "a.parquet", columns())
    assert "anabranch[parquet]" in caught.value.hint

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from anabranch_readers import zip_container
from plugins.readers.tests.format_samples import workbook
from tests.readers.read_bytes import documents, reason


def test_sheets_are_headings_and_hidden_ones_are_left_out(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.xls", workbook())
    assert [block.text for block in document.blocks] == [
        "Prices",
        "| Item | Price |\n| some words | 12.5 |\n| pipe | 3 |",
    ]
    assert document.notes == ("hidden sheets were left out (1)",)
    assert document.metadata == {"format": "xls"}


def test_damage_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.xls", "<html><table>") == "broken"
    assert reason(tmp_path, "a.xls", workbook()[:3000]) == "broken"
    assert reason(tmp_path, "a.xlsb", b"PK\x03\x04 no archive") == "broken"


def test_a_binary_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(zip_container, "MOST_UNPACKED", 1000)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.bin", bytes(5000))
    assert reason(tmp_path, "a.xlsb", buffer.getvalue()) == "too_large"

"""Without the packages of an extra, or without the plugin, a file is left out, and the extra is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import MissingExtraError, ReadingError
from anabranch.readers import READERS, read
from tests.absent import hide

NEEDED = [
    (".rst", "docutils", "formats"),
    (".ics", "icalendar", "formats"),
    (".pptx", "openpyxl", "formats"),
    (".xlsx", "openpyxl", "formats"),
    (".tex", "pylatexenc", "formats"),
    (".xls", "python_calamine", "formats"),
    (".msg", "oxmsg", "formats"),
    (".rtf", "striprtf", "formats"),
    (".doc", "kreuzberg", "legacy"),
    (".parquet", "pyarrow", "parquet"),
]


@pytest.mark.parametrize(("extension", "package", "extra"), NEEDED)
def test_the_extra_is_named(
    extension: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(package, monkeypatch, forget="anabranch_readers")
    path = tmp_path / f"a{extension}"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 100)  # as a file of the old Office begins
    with pytest.raises(ReadingError) as caught:
        list(read(path, path.name))
    assert caught.value.reason == "unsupported"
    assert f"pip install 'anabranch[{extra}]'" in caught.value.hint
    assert path.name in caught.value.message


@pytest.mark.parametrize("extension", [".pdf", ".docx", ".eml", ".epub", ".odt", ".ipynb", ".xml", ".png"])
def test_without_the_plugin_it_is_named_as_well(
    extension: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide("anabranch_readers", monkeypatch)
    with pytest.raises(MissingExtraError, match=r"anabranch\[formats\]"):
        READERS.get(extension)
    (tmp_path / f"a{extension}").write_bytes(b"some words")
    with pytest.raises(ReadingError, match=r"anabranch\[formats\]"):
        list(read(tmp_path / f"a{extension}", "a"))


def test_a_pdf_that_only_pdfium_opens_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide("pypdfium2", monkeypatch, forget="anabranch_readers.pdfium_repair")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4\nnothing")
    with pytest.raises(ReadingError, match=r"anabranch\[formats\]") as caught:
        list(read(tmp_path / "a.pdf", "a.pdf"))
    assert caught.value.reason == "broken"

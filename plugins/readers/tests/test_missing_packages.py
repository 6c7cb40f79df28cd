"""Without the packages of an extra, or without the plugin, a file is left out, and the extra that brings it is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anabranch.errors import MissingExtraError, ReadingError
from anabranch.readers import READERS, read

NEEDED = [
    (".rst", "docutils", "formats"),
    (".ics", "icalendar", "formats"),
    (".pptx", "openpyxl.utils.datetime", "formats"),
    (".xlsx", "openpyxl.styles.numbers", "formats"),
    (".tex", "pylatexenc.latexwalker", "formats"),
    (".xls", "python_calamine", "formats"),
    (".msg", "oxmsg", "formats"),
    (".rtf", "striprtf.striprtf", "formats"),
    (".doc", "kreuzberg", "legacy"),
    (".parquet", "pyarrow", "parquet"),
]


@pytest.mark.parametrize(("extension", "package", "extra"), NEEDED)
def test_the_extra_is_named(
    extension: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith("anabranch_readers.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
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
    for module in [name for name in sys.modules if name.startswith("anabranch_readers.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "anabranch_readers", None)
    with pytest.raises(MissingExtraError, match=r"anabranch\[formats\]"):
        READERS.get(extension)
    (tmp_path / f"a{extension}").write_bytes(b"some words")
    with pytest.raises(ReadingError, match=r"anabranch\[formats\]"):
        list(read(tmp_path / f"a{extension}", "a"))


def test_a_pdf_that_only_pdfium_opens_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    monkeypatch.delitem(sys.modules, "anabranch_readers.pdfium_repair", raising=False)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4\nnothing")
    with pytest.raises(ReadingError, match=r"anabranch\[formats\]") as caught:
        list(read(tmp_path / "a.pdf", "a.pdf"))
    assert caught.value.reason == "broken"

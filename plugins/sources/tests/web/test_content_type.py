from pathlib import Path

import httpx
import pytest

from anabranch.errors import ReadingError
from anabranch_sources.web.content_type import extension_of, recode


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("text/html", "/", ".html"),
        ("Text/HTML; charset=utf-8", "/a.pdf", ".html"),
        ("application/xhtml+xml", "/", ".xhtml"),
        ("application/pdf", "/download?id=7", ".pdf"),
        ("text/plain", "/notes", ".txt"),
        ("text/plain; charset=utf-8", "/README.md", ".md"),
        ("text/plain", "/film.mp4", ".txt"),
        ("application/octet-stream", "/paper.PDF", ".pdf"),
        ("", "/a%2Ehtm", ".htm"),
        ("application/x-ndjson", "/", ".jsonl"),
    ],
)
def test_the_media_type_decides_and_where_it_says_little_the_address(kind: str, path: str, expected: str) -> None:
    assert extension_of(kind, httpx.URL(f"https://example.org{path}")) == expected


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("image/png", "/a.html"),
        ("application/octet-stream", "/setup.exe"),
        ("", "/"),
        ("application/zip", "/a.zip"),
        ("nonsense", "/x.md"),
        (";charset=x", "/"),
    ],
)
def test_other_kinds_are_not_read(kind: str, path: str) -> None:
    with pytest.raises(ReadingError) as caught:
        extension_of(kind, httpx.URL(f"https://example.org{path}"))
    assert caught.value.reason == "unsupported"


def stored(path: Path, data: bytes, kind: str) -> bytes:
    path.write_bytes(data)
    return recode(path, kind).read_bytes()


TEXT = "Größe und Übermut"


@pytest.mark.parametrize("name", ["iso-8859-1", "windows-1252", "ISO-8859-15", "utf-16", "macintosh"])
def test_the_encoding_that_the_server_names_is_believed(tmp_path: Path, name: str) -> None:
    data = TEXT.encode("utf-16-be" if name == "utf-16" else name)
    kind = f'text/plain; charset="{"utf-16-be" if name == "utf-16" else name}"'
    assert stored(tmp_path / "a.txt", data, kind) == TEXT.encode("utf-8-sig")


def test_it_goes_before_what_the_page_says(tmp_path: Path) -> None:
    page = '<meta charset="iso-8859-1"><p>Чайка'.encode("windows-1251")
    assert "Чайка" in stored(tmp_path / "a.html", page, "text/html; charset=windows-1251").decode("utf-8-sig")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (TEXT.encode(), "text/plain; charset=iso-8859-1"),  # the server is wrong
        (b"\x81\x8d\x8f", "text/plain; charset=windows-1252"),  # likewise
        (TEXT.encode("utf-8-sig"), "text/plain; charset=koi8-r"),
        (TEXT.encode("utf-16"), "text/plain; charset=iso-8859-1"),
        (TEXT.encode("latin-1"), "text/plain"),
        (TEXT.encode("latin-1"), "text/plain; charset=nonsense"),
        (b"abc", "text/plain; charset=unicode_escape"),
        (b"abc", "text/plain; charset=punycode"),
        (b"abc", "text/plain; charset=zip"),
        (b"abc", "text/plain; charset=utf-8"),
        (b"%PDF-1.7", "application/pdf; charset=utf-16"),
    ],
)
def test_otherwise_the_bytes_stay(tmp_path: Path, data: bytes, kind: str) -> None:
    assert stored(tmp_path / "a.txt", data, kind) == data
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_seven_bit_encodings_are_not_taken_for_utf8(tmp_path: Path) -> None:
    data = "日本語".encode("iso-2022-jp")
    assert stored(tmp_path / "a.txt", data, "text/plain; charset=iso-2022-jp").decode("utf-8-sig") == "日本語"

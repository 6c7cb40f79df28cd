from __future__ import annotations

import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup

from anabranch.errors import ReadingError
from anabranch.readers.document import Document
from anabranch.readers.inert_xml import parse_xml
from anabranch_readers.epub import TocEntry, entries_of_nav, entries_of_ncx, place, read_epub, set_headings

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'
)
NAV = '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
NCX = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'


def made(path: Path, chapters: dict[str, str], *, extra: str = "", **others: str) -> Path:
    """Write a book; `others` are further files of its folder, their dots written as double underscores."""
    items = "".join(
        f'<item id="c{at}" href="{quote(name)}.xhtml" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>The book</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bob</dc:creator>"
        f"<dc:language>en</dc:language></metadata><manifest>{items}{extra}</manifest><spine>{spine}</spine></package>"
    )
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/epub+zip")
        file.writestr("META-INF/container.xml", CONTAINER)
        file.writestr("OEBPS/content.opf", package)
        for name, body in chapters.items():
            if body:
                head = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>'
                file.writestr(f"OEBPS/{name}.xhtml", f"{head}{body}</body></html>")
        for name, text in others.items():
            file.writestr(f"OEBPS/{name.replace('__', '.')}", text)
    return path


def read(path: Path) -> Document:
    (document,) = read_epub(path, "book.epub")
    return document


def headed(document: Document) -> list[tuple[str, tuple[str, ...]]]:
    return [(block.text, block.heading) for block in document.blocks if not block.is_heading]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "book.epub"


def test_chapters_come_in_the_order_of_the_spine(book: Path) -> None:
    made(book, {"b": "<h1>Second file</h1><p>first text</p>", "a": "<h1>First file</h1><p>second text</p>"})
    document = read(book)
    assert headed(document) == [("first text", ("Second file",)), ("second text", ("First file",))]
    assert document.title == "The book"
    assert document.metadata == {"format": "epub", "author": "Ada, Bob", "language": "en"}
    assert document.notes == ()


def test_headings_go_on_over_the_ends_of_files(book: Path) -> None:
    made(book, {"a": "<h1>One</h1><h2>Inner</h2><p>x</p>", "b": "<p>y</p><h2>Next</h2><p>z</p>"})
    assert headed(read(book)) == [("x", ("One", "Inner")), ("y", ("One", "Inner")), ("z", ("One", "Next"))]


def test_the_navigation_gives_headings_where_chapters_have_none(book: Path) -> None:
    nav = (
        '<nav epub:type="toc"><ol><li><a href="a.xhtml">Part one</a><ol>'
        '<li><a href="a.xhtml#s">The pump</a></li><li><a href="sub/b%20c.xhtml">The valve</a></li></ol></li></ol></nav>'
    )
    chapters = {"a": "<p>before</p><p id='s'>The Pump</p><p>about it</p>", "sub/b c": "<p>about the other</p>"}
    made(book, chapters, extra=NAV, nav__xhtml=f"<html><body>{nav}</body></html>")
    assert headed(read(book)) == [
        ("before", ("Part one",)),
        ("about it", ("Part one", "The Pump")),
        ("about the other", ("Part one", "The valve")),
    ]


def test_the_older_navigation_sets_the_depth_of_headings(book: Path) -> None:
    ncx = (
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Part</text></navLabel>'
        '<content src="a.xhtml"/><navPoint><navLabel><text>Chapter</text></navLabel><content src="b.xhtml#x"/>'
        "</navPoint></navPoint></navMap></ncx>"
    )
    chapters = {"a": "<h1>Part</h1><p>x</p>", "b": "<h1><a id='x'/>Chapter</h1><p>y</p>"}
    made(book, chapters, extra=NCX, toc__ncx=ncx)
    assert headed(read(book)) == [("x", ("Part",)), ("y", ("Part", "Chapter"))]


def test_hidden_text_and_missing_chapters_are_noted(book: Path) -> None:
    made(book, {"a": "<p>seen<span style='display:none'>unseen</span></p>", "b": ""})
    document = read(book)
    assert headed(document) == [("seen", ())]
    assert document.notes == ("chapters are missing from the file (1)", "hidden text was left out (6 characters)")


@pytest.mark.parametrize(
    ("algorithm", "target", "is_protected"),
    [
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/a.xhtml", True),
        ("http://www.idpf.org/2008/embedding", "OEBPS/font.otf", False),
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/cover.jpg", False),
    ],
)
def test_copy_protection(book: Path, algorithm: str, target: str, is_protected: bool) -> None:
    made(book, {"a": "<p>text</p>"})
    data = (
        f'<encryption xmlns:e="urn:e"><e:EncryptedData><e:EncryptionMethod Algorithm="{algorithm}"/><e:CipherData>'
        f'<e:CipherReference URI="{target}"/></e:CipherData></e:EncryptedData></encryption>'
    )
    with zipfile.ZipFile(book, "a") as file:
        file.writestr("META-INF/encryption.xml", data)
    if not is_protected:
        assert headed(read(book)) == [("text", ())]
        return
    with pytest.raises(ReadingError) as caught:
        read(book)
    assert caught.value.reason == "encrypted"


def test_what_is_no_book_says_why(book: Path) -> None:
    book.write_bytes(b"text")
    with pytest.raises(ReadingError) as caught:
        read(book)
    assert caught.value.reason == "broken"
    with zipfile.ZipFile(book, "w") as file:
        file.writestr("a.txt", "text")
    with pytest.raises(ReadingError, match="no e-book"):
        read(book)
    made(book, {"a": "<img src='x'/>"})
    with pytest.raises(ReadingError) as caught:
        read(book)
    assert caught.value.reason == "empty"


def test_a_real_book(shared: Path) -> None:
    document = read(shared / "data/awkward/epub__winter-sports.epub")
    assert document.title == "Winter Sports in Switzerland"
    assert document.metadata["author"] == "E. F. Benson"
    paths = [block.heading for block in document.blocks if block.is_heading]
    assert ("RINKS AND SKATERS", "FIRST-CLASS TEST", "Section B", "Part II") in paths
    assert sum(len(block.text) for block in document.blocks) > 300_000


def set_in(markup: str, *entries: TocEntry) -> str:
    soup = BeautifulSoup(f"<body>{markup}</body>", "lxml")
    set_headings(soup, entries)
    return "".join(map(str, soup.body.contents))


def test_places_count_from_their_folder_and_stay_in_the_archive() -> None:
    assert place("OEBPS/text", "../a%20b.xhtml#x%20y") == ("OEBPS/a b.xhtml", "x y")
    assert place("", "a.xhtml") == ("a.xhtml", "")
    assert place("OEBPS", "../../../etc/passwd") == ("etc/passwd", "")


def test_lines_of_both_kinds_of_navigation() -> None:
    nav = (
        '<nav epub:type="landmarks"><ol><li><a href="x">no</a></li></ol></nav><nav epub:type="toc"><ol>'
        '<li><a href="a#1"> One </a><ol><li><a href="b">Two</a></li><li><a href="c"></a></li></ol></li></ol></nav>'
    )
    expected = [TocEntry("t/a", "1", "One", 1), TocEntry("t/b", "", "Two", 2)]
    assert entries_of_nav(BeautifulSoup(nav, "lxml"), "t") == expected
    ncx = (
        "<ncx><navMap><navPoint><navLabel><text> One </text></navLabel><content src='a#1'/><navPoint><navLabel><text>"
        "Two</text></navLabel><content src='b'/></navPoint></navPoint><navPoint><navLabel/></navPoint></navMap></ncx>"
    )
    assert entries_of_ncx(parse_xml(ncx.encode()), "t") == expected


def test_a_heading_of_its_own_takes_the_depth() -> None:
    assert set_in('<h4 id="x">Own</h4>', TocEntry("", "x", "Other words", 2)) == '<h2 id="x">Own</h2>'
    assert set_in('<h4><a id="x"></a>Own</h4>', TocEntry("", "x", "Own", 1)) == '<h1><a id="x"></a>Own</h1>'
    assert set_in('<div id="x"><h3>Own</h3></div>', TocEntry("", "x", "Own", 9)) == '<div id="x"><h6>Own</h6></div>'


def test_a_paragraph_with_the_same_words_becomes_one() -> None:
    found = set_in('<a id="x"></a><p class="t">Chapter <b>One</b></p><p>text</p>', TocEntry("", "x", "CHAPTER ONE", 1))
    assert found == '<a id="x"></a><h1 class="t">Chapter <b>One</b></h1><p>text</p>'


def test_one_is_put_where_there_is_none() -> None:
    assert set_in('<p>a</p><p>b<a id="x"></a></p>', TocEntry("", "x", "Next", 2)) == (
        '<p>a</p><h2>Next</h2><p>b<a id="x"></a></p>'
    )
    assert set_in("<p>a</p>", TocEntry("", "", "First", 1)) == "<h1>First</h1><p>a</p>"
    assert set_in("<p>a</p>", TocEntry("", "gone", "First", 1)) == "<p>a</p>"


def test_two_lines_do_not_claim_the_same_heading() -> None:
    found = set_in('<h2>Part</h2><h2 id="x">Chapter</h2>', TocEntry("", "", "Part", 1), TocEntry("", "x", "Chapter", 2))
    assert found == '<h1>Part</h1><h2 id="x">Chapter</h2>'

from bs4 import BeautifulSoup

from anabranch.readers.epub_toc import Entry, entries_of_nav, entries_of_ncx, place, set_headings
from anabranch.readers.zip_container import parsed


def set_in(markup: str, *entries: Entry) -> str:
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
    expected = [Entry("t/a", "1", "One", 1), Entry("t/b", "", "Two", 2)]
    assert entries_of_nav(BeautifulSoup(nav, "lxml"), "t") == expected
    ncx = (
        "<ncx><navMap><navPoint><navLabel><text> One </text></navLabel><content src='a#1'/><navPoint><navLabel><text>"
        "Two</text></navLabel><content src='b'/></navPoint></navPoint><navPoint><navLabel/></navPoint></navMap></ncx>"
    )
    assert entries_of_ncx(parsed(ncx.encode()), "t") == expected


def test_a_heading_of_its_own_takes_the_depth() -> None:
    assert set_in('<h4 id="x">Own</h4>', Entry("", "x", "Other words", 2)) == '<h2 id="x">Own</h2>'
    assert set_in('<h4><a id="x"></a>Own</h4>', Entry("", "x", "Own", 1)) == '<h1><a id="x"></a>Own</h1>'
    assert set_in('<div id="x"><h3>Own</h3></div>', Entry("", "x", "Own", 9)) == '<div id="x"><h6>Own</h6></div>'


def test_a_paragraph_with_the_same_words_becomes_one() -> None:
    found = set_in('<a id="x"></a><p class="t">Chapter <b>One</b></p><p>text</p>', Entry("", "x", "CHAPTER ONE", 1))
    assert found == '<a id="x"></a><h1 class="t">Chapter <b>One</b></h1><p>text</p>'


def test_one_is_put_where_there_is_none() -> None:
    assert set_in('<p>a</p><p>b<a id="x"></a></p>', Entry("", "x", "Next", 2)) == (
        '<p>a</p><h2>Next</h2><p>b<a id="x"></a></p>'
    )
    assert set_in("<p>a</p>", Entry("", "", "First", 1)) == "<h1>First</h1><p>a</p>"
    assert set_in("<p>a</p>", Entry("", "gone", "First", 1)) == "<p>a</p>"


def test_two_lines_do_not_claim_the_same_heading() -> None:
    found = set_in('<h2>Part</h2><h2 id="x">Chapter</h2>', Entry("", "", "Part", 1), Entry("", "x", "Chapter", 2))
    assert found == '<h1>Part</h1><h2 id="x">Chapter</h2>'

from __future__ import annotations

from pathlib import Path

from plugins.readers.tests.format_samples import FEED
from tests.readers.read_bytes import documents, reason, texts


def test_an_entry_of_a_feed_is_a_document(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "news.xml", FEED)
    assert (document.source, document.title) == ("news.xml#g1", "One & two")
    assert [(block.text, block.heading) for block in document.blocks] == [
        ("One & two", ("One & two",)),
        ("some words", ("One & two",)),
    ]
    date = "2008-07-16T06:24:06+00:00"
    assert document.metadata == {"format": "feed", "feed": "News", "url": "https://x.org/1", "date": date}


def test_atom_with_elements_in_it(tmp_path: Path) -> None:
    content = '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Grüß <b>dich</b></p></div></content>'
    entry = f"<entry><id>1</id><title>T</title><author><name>Ada</name></author>{content}</entry>"
    (document,) = documents(
        tmp_path, "a.atom", f'<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title>{entry}</feed>'
    )
    assert document.blocks[1].text == "Grüß dich"
    assert document.metadata == {"format": "feed", "feed": "F", "author": "Ada"}


def test_a_site_map_is_a_list_of_addresses(tmp_path: Path) -> None:
    urls = '<urlset xmlns="urn:x"><url><loc>https://x.org/</loc><lastmod>2024</lastmod></url></urlset>'
    assert texts(tmp_path, "sitemap.xml", urls) == ["https://x.org/ (2024)"]


def test_other_xml_stays_as_it_stands_damaged_or_not(tmp_path: Path) -> None:
    assert texts(tmp_path, "pom.xml", "<project><a>1</a></project>") == ["<project><a>1</a></project>"]
    assert texts(tmp_path, "pom.xml", "<project><a>1</project>") == ["<project><a>1</project>"]
    assert reason(tmp_path, "a.rss", b"\x7fELF" + bytes(50)) == "broken"


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SECRET")
    hostile = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>' + FEED.replace("News", "&x;")
    (document,) = documents(tmp_path, "a.xml", hostile)
    assert "SECRET" not in str(document)

"""Of a page of the web, the part that is its own is read; of a file, everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.readers.html import read_html

FRAME = """<title>Herons</title><body>
<header role="banner"><p>River Society</p></header><aside><p>Buy our calendar.</p></aside>
{content}
<footer><p>All rights reserved.</p></footer></body>"""
ARTICLE = "<article><header><h1>Herons</h1></header><p>They wait.</p><footer><p>By Ada.</p></footer></article>"


def read(markup: str, folder: Path, source: str = "https://example.org/herons") -> list[str]:
    path = folder / "page.html"
    path.write_text(markup, encoding="utf-8")
    (document,) = read_html(path, source)
    return [block.text for block in document.blocks]


@pytest.mark.parametrize("element", ["<main>{}</main>", "<div role='main'>{}</div>"])
def test_main_is_the_page(element: str, tmp_path: Path) -> None:
    content = element.format(ARTICLE + "<aside><p>A note beside it.</p></aside>") + "<p>Also read: swifts.</p>"
    expected = ["Herons", "They wait.", "By Ada.", "A note beside it."]
    assert read(FRAME.format(content=content), tmp_path) == expected


@pytest.mark.parametrize("more", ["", "<main></main>", "<main><p>One.</p></main><main><p>Two.</p></main>"])
def test_without_one_main_the_frame_of_the_site_is_left_out(more: str, tmp_path: Path) -> None:
    texts = read(FRAME.format(content=ARTICLE + more), tmp_path)
    assert texts[:3] == ["Herons", "They wait.", "By Ada."]
    assert not {"River Society", "Buy our calendar.", "All rights reserved."} & set(texts)


def test_a_header_that_is_not_the_sites_is_kept(tmp_path: Path) -> None:
    assert read("<body><header><h1>Herons</h1></header><p>They wait.</p></body>", tmp_path) == ["Herons", "They wait."]


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    texts = read(FRAME.format(content=f"<main>{ARTICLE}</main>"), tmp_path, "herons.html")
    assert texts[:2] == ["River Society", "Buy our calendar."]
    assert texts[-1] == "All rights reserved."


def test_what_the_page_hides_is_hidden_in_its_main_part(tmp_path: Path) -> None:
    markup = "<head><style>.x {display: none}</style></head><main><p>They wait.</p><p class='x'>Obey me.</p></main>"
    assert read(markup, tmp_path) == ["They wait."]

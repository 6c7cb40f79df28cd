from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.read_bytes import documents, texts


@pytest.mark.parametrize(
    "page",
    [
        "<style>.x{display:none}</style><p>Seen</p><p class=x>SECRET</p>",
        "<style>@media print{p{display:none}} #x, .y{font-size:0}</style><p>Seen</p><p id=x>SECRET</p>",
        "<style>.x{color:#fff}</style><p>Seen</p><p class=x>SECRET</p>",
        "<p>Seen</p><p style='color:white'>SECRET</p>",
        "<style>.x{position:absolute;left:-9999px}</style><p>Seen</p><p class=x>SECRET</p>",
        "<p>Seen</p><p style='text-indent:-9999px'>SECRET</p>",
        "<p>Seen</p><p style='font-size:1px'>SECRET</p>",
    ],
)
def test_what_the_style_hides_is_left_out(tmp_path: Path, page: str) -> None:
    (document,) = documents(tmp_path, "a.html", page)
    assert [block.text for block in document.blocks] == ["Seen"]
    assert document.notes == ("hidden text was left out (6 characters)",)


@pytest.mark.parametrize(
    "page",
    [
        "<p aria-hidden=true>Seen</p>",
        "<style>.x{display:none} .x{display:block}</style><p class=x>Seen</p>",
        "<style>@media print{.x{display:none}}</style><p class=x>Seen</p>",
        "<style>.x:hover{display:none}</style><p class=x>Seen</p>",
        "<style>.d{background:#123456}.x{color:#fff}</style><div class=d><p class=x>Seen</p></div>",
        "<table bgcolor=navy><tr><td><font style='color:#fff'>Seen</font></table>",
        "<link rel=stylesheet href=a.css><p style='color:white'>Seen</p>",
        "<style>p[{display:none}</style><p>Seen</p>",
        "<p style='left:-20px;position:relative'>Seen</p>",
    ],
)
def test_what_is_seen_stays(tmp_path: Path, page: str) -> None:
    assert texts(tmp_path, "a.html", page) == ["Seen"]


def test_a_page_of_confluence_without_its_furniture(tmp_path: Path) -> None:
    page = (
        "<div id=main-header><div id=breadcrumb-section><ol><li>Raum</ol></div><h1>Seite</h1></div><div id=content>"
        "<div class=page-metadata>Erstellt von Ada</div>"
        "<div id=main-content class='wiki-content group'><p>Worte</p></div>"
        "</div><div id=footer role=contentinfo><section class=footer-body>Document generated</section></div>"
    )
    assert texts(tmp_path, "a.html", page) == ["Seite", "Worte"]
    assert "Erstellt von Ada" in texts(tmp_path, "a.html", page.replace("wiki-content", "other"))

"""What a tool for documentation writes beside its pages is one row, and what it puts around a page is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.ingestion.sources import gather
from anabranch.readers.document import Failure
from tests.readers.read_bytes import documents, texts

SITES = {
    "Sphinx": (
        ["objects.inv", "searchindex.js"],
        ["_sources/faq.rst.txt", "_static/fonts/a.eot", "_static/doctools.js", "genindex.html", "search.html"],
        ["_images/flow.txt", "usage/search.html", "search.txt"],
    ),
    "MkDocs": (
        ["search/search_index.json"],
        ["search/lunr.js", "404.html", "sitemap.xml", "js/base.js", "assets/javascripts/bundle.js"],
        ["assets/report.txt", "faq/js/index.html"],
    ),
    "Docusaurus": (
        ["assets/js/runtime~main.3f2a.js"],
        ["404.html", "sitemap.xml", "assets/js/main.1.js", "assets/css/styles.1.css"],
        ["assets/files/report.txt", "js/index.html"],
    ),
}


def left_out(folder: Path) -> dict[str, str]:
    """Return all files, with the reason why they are not to be read, empty for those that are."""
    with gather([folder]) as found:
        return {file.source: file.message if isinstance(file, Failure) else "" for file in found}


@pytest.mark.parametrize("tool", SITES)
@pytest.mark.parametrize("below", ["", "html"])
def test_what_the_tool_wrote_is_left_out_and_a_folder_is_one_row(tmp_path: Path, tool: str, below: str) -> None:
    signs, written, pages = SITES[tool]
    for name in ["index.html", *signs, *written, *pages]:
        (tmp_path / below / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / below / name).write_text("<p>Some words.</p>")
    found = {name.removeprefix(f"{below}/"): why for name, why in left_out(tmp_path).items()}
    assert {name for name, why in found.items() if not why} == {"index.html", *pages}
    others = [why for why in found.values() if why]
    assert all(f"{tool} made it beside its pages" in why for why in others)
    assert len(others) < len({*signs, *written})


@pytest.mark.parametrize("tool", SITES)
def test_the_same_names_without_the_tool_are_files_as_any_other(tmp_path: Path, tool: str) -> None:
    for name in SITES[tool][1]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("<p>Some words.</p>")
    assert not any("made it" in why for why in left_out(tmp_path).values())


AROUND = """<title>Pruning</title><body>
<div class="related" role="navigation"><h3>Navigation</h3><ul><li>next</li></ul></div>
<div class="sphinxsidebar"><h3>Contents</h3></div>{content}
<div class="related" role="navigation"><h3>Navigation</h3></div>
<div class="footer" role="contentinfo">&copy; Ada. Created using Sphinx.</div></body>"""
HEADING = """<section><h1>Pruning<a class="{0}" href="#p" title="Link">{1}</a></h1><p>Keep seven days.</p>
<aside class="footnote"><p>[1] Or eight.</p></aside></section>"""


@pytest.mark.parametrize("mark", ["headerlink", "hash-link"])
@pytest.mark.parametrize("element", ["<div class='body'>{}</div>", "<main><nav>Home</nav>{}</main><p>Edit it</p>"])
def test_menus_footers_and_marks_behind_headings_are_left_out(tmp_path: Path, mark: str, element: str) -> None:
    page = AROUND.format(content=element.format(HEADING.format(mark, "¶")))
    (document,) = documents(tmp_path, "page.html", page)
    assert [(block.text, block.heading) for block in document.blocks] == [
        ("Pruning", ("Pruning",)),
        ("Keep seven days.", ("Pruning",)),
        ("[1] Or eight.", ("Pruning",)),
    ]


def test_a_table_of_options_has_no_header(tmp_path: Path) -> None:
    rows = "".join(f"<tr><td></td><td>{name}</td><td>{text}</td></tr>" for name, text in [("-n", "a"), ("-s", "b")])
    options = f"<table class='docutils'><tbody><tr><td colspan=3>options</td></tr>{rows}</tbody></table>"
    named = "<table class='docutils'><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36</td></tr></table>"
    found = texts(tmp_path, "page.html", f"<body>{options}{named}</body>")
    assert found == ["options\n-n: a\n-s: b", "| Name | Age |\n| Ada | 36 |"]


def test_a_copied_source_is_read_as_what_it_was(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "faq.md.txt", "# Questions\n\nWhy *not*?")
    assert [(block.text, block.is_heading) for block in document.blocks] == [
        ("Questions", True),
        ("Why not?", False),
    ]

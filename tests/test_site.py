"""The web site holds every page, and every link on them leads somewhere. Zensical itself is not run here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scripts.site import add_markdown, copy, linked, page_list, pages
from tests.shared_fixtures import REPOSITORY

ANCHOR = re.compile(r"\[[^\]]*\]\((?!https?://)([^)#\s]*)#([\w-]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def named(nav: list[Any]) -> list[str]:
    found: list[str] = []
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            found += named(value) if isinstance(value, list) else [value]
    return found


def test_the_navigation_names_every_page_once() -> None:
    project = tomllib.loads((REPOSITORY / "zensical.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(named(project["nav"])) == [str(page) for page in pages()]
    assert len(pages()) > 40


def anchors(page: Path) -> set[str]:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages(), ids=str)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    list(linked(page))
    text = FENCED.sub("", (REPOSITORY / page).read_text(encoding="utf-8"))
    for target, anchor in ANCHOR.findall(text):
        there = REPOSITORY / page.parent / target if target else REPOSITORY / page
        assert anchor in anchors(there), f"{page} links to {target}#{anchor}"


def test_a_dead_link_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("scripts.site.ROOT", tmp_path)
    (tmp_path / "page.md").write_text("[gone](gone.md) [site](https://example.org)", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"page\.md links to gone\.md"):
        list(linked(Path("page.md")))


def test_pages_keep_their_places_and_what_they_link_to_comes_along(tmp_path: Path) -> None:
    copy(tmp_path / "pages")
    there = {str(file.relative_to(tmp_path / "pages")) for file in (tmp_path / "pages").rglob("*") if file.is_file()}
    assert {"README.md", "docs/pictures/page.png", "LICENSE", "evals/claims/claims.jsonl"} <= there
    assert "```python no-run" not in (tmp_path / "pages" / "docs" / "server.md").read_text(encoding="utf-8")


def test_each_page_is_there_as_markdown_and_the_list_names_it(tmp_path: Path) -> None:
    add_markdown(tmp_path)
    listed = (tmp_path / "llms.txt").read_text(encoding="utf-8")
    assert listed.startswith("# Anabranch\n\n> A LangGraph agent")
    assert sorted(re.findall(r"^- \[[^\]]+\]\((.+)\)$", listed, re.MULTILINE)) == sorted(map(str, pages()))
    assert all((tmp_path / page).read_bytes() == (REPOSITORY / page).read_bytes() for page in pages())


def test_a_page_without_a_title_in_the_navigation_has_that_of_its_heading() -> None:
    project = {"site_name": "A", "site_description": "B.", "nav": [{"In": "README.md"}, {"C": ["evals/README.md"]}]}
    heading = (REPOSITORY / "evals" / "README.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert page_list(project) == f"# A\n\n> B.\n\n- [In](README.md)\n\n## C\n\n- [{heading}](evals/README.md)\n"

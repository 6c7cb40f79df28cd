"""Tells what Sphinx, MkDocs and Docusaurus write beside the pages of a site on disk, and around the text of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

# By a sign, which is a file of the tool's own in the folder of `index.html`: the tool, and what it writes there that is
# no text of anybody. Each index of a search holds all pages a second time.
_TOOLS: Mapping[str, tuple[str, frozenset[str]]] = {
    sign: (tool, frozenset(written.split()))
    for tool, signs, written in (
        (
            "Sphinx",
            "searchindex.js objects.inv",
            "_sources _static genindex-all.html genindex.html objects.inv py-modindex.html search.html searchindex.js",
        ),
        (
            "MkDocs",
            "search/search_index.json",
            "404.html assets/javascripts assets/stylesheets css js objects.inv search search.html sitemap.xml "
            "sitemap.xml.gz",
        ),
        (
            "Docusaurus",
            "assets/js/runtime~main.*.js",
            "404.html assets/css assets/js opensearch.xml search-index.json search.html sitemap.xml",
        ),
    )
    for sign in signs.split()
}
_WRITTEN = frozenset().union(*(written for _, written in _TOOLS.values()))

# The link that each tool puts behind a heading, the sidebar of Sphinx, and what the others say of themselves.
_MARKS = (
    "a.headerlink, a.hash-link, .sphinxsidebar, meta[name=generator][content^=mkdocs], "
    "meta[name=generator][content^=Docusaurus]"
)
_AROUND = (
    "a.headerlink, a.hash-link, nav, footer, [role=navigation], [role=search], [role=contentinfo], "
    ".related, .sphinxsidebar, .footer, .footer-relations"
)


def site_tool(path: Path) -> str:
    """Return the tool that wrote a file or folder beside the pages of its site, empty for pages and all else."""
    for folder in path.parents[:2]:
        name = path.relative_to(folder).as_posix()
        # Before the disk is looked at, for every file is asked about.
        if name in _WRITTEN and (folder / "index.html").is_file():
            for sign, (tool, written) in _TOOLS.items():
                if name in written and any(folder.glob(sign)):
                    return tool
    return ""


def without_site(soup: BeautifulSoup) -> bool:
    """Take menus, footers and the marks behind headings out of a page that such a tool made; tell whether it is one."""
    if soup.select_one(_MARKS) is None:
        return False
    for each in soup.select(_AROUND):
        if not each.decomposed:  # with what it stood in
            each.decompose()
    return True

"""Tells what Sphinx, MkDocs and Docusaurus write beside the pages of a site on disk, and around the text of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from bs4 import BeautifulSoup

from anabranch.readers.corpus_marker import names_in

_SPHINX = frozenset({
    "_sources", "_static", "genindex-all.html", "genindex.html", "objects.inv", "py-modindex.html", "search.html",
    "searchindex.js",
})  # fmt: skip
_MKDOCS = frozenset(["404.html", "search", "sitemap.xml", "sitemap.xml.gz"])
_DOCUSAURUS = frozenset(["404.html", "opensearch.xml", "search.html", "search-index.json", "sitemap.xml"])

# What tells a folder as the site's own by the names in it, and which of its files and folders are no text of anybody.
# Each index of a search holds all pages a second time.
_TOOLS: Mapping[str, tuple[Collection[str], Collection[str]]] = {
    "Sphinx": (("searchindex.js", "objects.inv"), _SPHINX),
    "MkDocs": (("search/search_index.json",), _MKDOCS | {"objects.inv"}),
    "Docusaurus": (("assets/js",), _DOCUSAURUS | {"assets"}),
}
_ANY = _SPHINX | _MKDOCS | _DOCUSAURUS | {"assets"}

# The link that each tool puts behind a heading, and the sidebar of Sphinx.
_MARKS = "a.headerlink, a.hash-link, .sphinxsidebar"
_AROUND = (
    "a.headerlink, a.hash-link, nav, footer, aside, [role=navigation], [role=search], [role=contentinfo], "
    ".related, .sphinxsidebar, .footer, .footer-relations"
)


def site_tool(path: Path) -> str:
    """Return the tool that wrote a file or folder beside the pages of its site, empty for pages and all else."""
    if path.name not in _ANY:  # before the folder is looked at, for all files are asked about
        return ""
    folder = path.parent
    if "index.html" not in (names_in(folder) or ()):
        return ""
    return next(
        (
            tool
            for tool, (signs, written) in _TOOLS.items()
            if path.name in written and any((folder / sign).exists() for sign in signs) and _is_made(tool, folder)
        ),
        "",
    )


def _is_made(tool: str, folder: Path) -> bool:
    """Tell Docusaurus, whose folder names are anybody's, by the name of its own script."""
    return tool != "Docusaurus" or any((folder / "assets" / "js").glob("runtime~main.*.js"))


def without_site(soup: BeautifulSoup) -> bool:
    """Take menus, footers and the marks behind headings out of a page that such a tool made; tell whether it is one."""
    if soup.select_one(_MARKS) is None:
        return False
    for each in soup.select(_AROUND):
        each.decompose()
    return True

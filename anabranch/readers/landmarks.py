"""Which part of a web page is the page's own, by the landmarks of WAI-ARIA (https://www.w3.org/TR/wai-aria/#landmark_roles)."""

from __future__ import annotations

from bs4 import BeautifulSoup
from bs4.element import Tag

_SITE = frozenset({"banner", "complementary", "contentinfo", "navigation", "search"})
_OF_A_PART = ["article", "main", "section"]


def main_content(soup: BeautifulSoup) -> Tag:
    """Return the element whose text is the page's: `<main>`, or all without what stands on every page of the site.

    A page with several `<main>`, or an empty one that a script would fill, has none. What is taken out is gone from
    the tree.
    """
    found = [tag for tag in soup.find_all(True) if tag.name == "main" or tag.get("role") == "main"]
    if len(found) == 1 and found[0].get_text(strip=True):
        return found[0]
    for tag in soup.find_all(True):
        if tag.decomposed:  # with what it stood in
            continue
        # The footer of an article is the article's; that of the page is the site's (HTML, 4.3.9). A header may hold the
        # one heading of the page, and goes only where it says that it is the site's.
        is_sites = tag.name in {"footer", "aside"} and tag.find_parent(_OF_A_PART) is None
        if is_sites or tag.get("role") in _SITE:
            tag.decompose()
    return soup

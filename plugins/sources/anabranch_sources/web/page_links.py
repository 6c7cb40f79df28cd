"""Where a page leads: its links, and what it says programs may do with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import httpx
from lxml import etree, html  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.errors import UserError
from anabranch_sources.web.ssrf_guard import parsed

MOST_BYTES = 5_000_000
"""What of a page is searched for links."""


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What a page says to a program that follows links.

    Attributes:
        addresses: Where its links lead, in their order, each once, without the part behind `#`.
        is_indexed: Whether it may be taken in (`<meta name="robots" content="noindex">` says no).
    """

    addresses: tuple[str, ...] = ()
    is_indexed: bool = True


def links_of(path: Path, address: str) -> PageLinks:
    """Read the links of an HTML page that was found at `address`."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES)
    try:
        root = html.document_fromstring(data, parser=html.HTMLParser(no_network=True))
    except (etree.ParserError, etree.XMLSyntaxError):  # it has no element at all
        return PageLinks()
    said = {
        word.strip().lower()
        for meta in root.iter("meta")
        if (meta.get("name") or "").lower() in {"robots", "anabranch"}
        for word in (meta.get("content") or "").split(",")
    }
    found = () if said & {"nofollow", "none"} else tuple(dict.fromkeys(_targets(root, address)))
    return PageLinks(found, not said & {"noindex", "none"})


def _targets(root: html.HtmlElement, address: str) -> list[str]:
    base = next((str(element.get("href")) for element in root.iter("base") if element.get("href")), "")
    place = _joined(address, base) or address
    targets = (_joined(place, str(link.get("href"))) for link in root.iter("a", "area") if link.get("href"))
    return [target for target in targets if target]


def _joined(place: str, target: str) -> str:
    """Return a link as a whole address in its normal form; empty where it is none of the web."""
    try:
        return str(parsed(str(httpx.URL(place).join(target.strip()))))
    except (httpx.InvalidURL, UserError, ValueError):
        return ""

"""The links of a page, and what its robots tag allows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import httpx
from lxml import etree, html  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.errors import UserError
from anabranch_sources.web.ssrf_guard import parse_address

MOST_BYTES = 5_000_000
"""Bytes of a page that are searched for links."""


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links of a page and its permission.

    Attributes:
        addresses: The targets of its links, in order, each once, without fragments.
        is_indexed: Whether it may be ingested (`<meta name="robots" content="noindex">` says no).
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
    rules = {
        word.strip().lower()
        for meta in root.iter("meta")
        if (meta.get("name") or "").lower() in {"robots", "anabranch"}
        for word in (meta.get("content") or "").split(",")
    }
    found = () if rules & {"nofollow", "none"} else tuple(dict.fromkeys(_targets(root, address)))
    return PageLinks(found, not rules & {"noindex", "none"})


def _targets(root: html.HtmlElement, address: str) -> list[str]:
    base = next((str(element.get("href")) for element in root.iter("base") if element.get("href")), "")
    place = _resolve_link(address, base) or address
    targets = (_resolve_link(place, str(link.get("href"))) for link in root.iter("a", "area") if link.get("href"))
    return [target for target in targets if target]


def _resolve_link(place: str, target: str) -> str:
    """Return a link as a complete address in normal form; empty if it is not a web address."""
    try:
        return str(parse_address(str(httpx.URL(place).join(target.strip()))))
    except (httpx.InvalidURL, UserError, ValueError):
        return ""

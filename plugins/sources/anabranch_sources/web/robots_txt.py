"""The rules of a site's robots.txt (RFC 9309)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import httpx
from protego import Protego

from anabranch.errors import ReadingError
from anabranch_sources.web.fetcher import Fetcher, StatusError
from anabranch_sources.web.transport import AGENT

MOST_BYTES = 500 << 10
"""Bytes of a robots.txt that are read, the least that RFC 9309 requires (section 2.5)."""
LONGEST_PAUSE = 30.0
"""Most seconds between two pages, even if a site asks for more."""


class Robots:
    """The rules of one site."""

    def __init__(self, rules: Protego | None) -> None:
        """Take the rules; None if they cannot be read, which forbids everything."""
        self._rules = rules

    def allow(self, address: str) -> bool:
        """Tell whether a page may be fetched."""
        return self._rules is not None and self._rules.can_fetch(address, AGENT)

    def pause(self, least: float) -> float:
        """Return the seconds between two requests, at least `least`."""
        asked = self._rules.crawl_delay(AGENT) if self._rules else None
        return min(max(least, asked or 0.0), LONGEST_PAUSE)

    @property
    def sitemaps(self) -> Sequence[str]:
        """Addresses of the site's lists of its pages."""
        return list(self._rules.sitemaps) if self._rules else []


def robots_of(address: str, fetcher: Fetcher) -> Robots:
    """Return the rules of the site that an address belongs to."""
    place = str(httpx.URL(address).copy_with(raw_path=b"/robots.txt", fragment=None))
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        try:
            path = fetcher.page(place, Path(folder), extension=".txt").path
        except StatusError as error:
            # RFC 9309, section 2.3.1: a missing file allows everything, an error of the server nothing.
            return Robots(Protego.parse("") if 400 <= error.status < 500 else None)
        except ReadingError as error:
            return Robots(Protego.parse("") if error.reason == "empty" else None)
        with path.open("rb") as file:
            return Robots(Protego.parse(file.read(MOST_BYTES).decode("utf-8-sig", errors="replace")))

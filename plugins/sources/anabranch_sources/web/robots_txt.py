"""What a site allows programs to fetch: its robots.txt (RFC 9309)."""

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
"""What of a robots.txt is read; RFC 9309 asks for at least that (section 2.5)."""
LONGEST_PAUSE = 30.0
"""Seconds that a site may ask to wait between two pages; one that asks for more is asked so often."""


class Robots:
    """The rules of one site."""

    def __init__(self, rules: Protego | None) -> None:
        """Take the rules; None where the site cannot say what it allows, which forbids everything."""
        self._rules = rules

    def allow(self, address: str) -> bool:
        """Tell whether a page may be fetched."""
        return self._rules is not None and self._rules.can_fetch(address, AGENT)

    def pause(self, least: float) -> float:
        """Return the seconds between two requests: what the site asks for, and `least` otherwise."""
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
            # RFC 9309, section 2.3.1: no such file allows everything, a server that is ill nothing.
            return Robots(Protego.parse("") if 400 <= error.status < 500 else None)
        except ReadingError as error:
            return Robots(Protego.parse("") if error.reason == "empty" else None)
        with path.open("rb") as file:
            return Robots(Protego.parse(file.read(MOST_BYTES).decode("utf-8-sig", errors="replace")))

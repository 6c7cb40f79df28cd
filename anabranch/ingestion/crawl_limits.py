"""How far the links of web pages are followed."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.errors import SettingsError


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """The limits of a crawl.

    Attributes:
        pages: Most pages to fetch, including the first and those that cannot be read.
        depth: Most links from the first page; pages of the sitemap count as one link away.
        pause: Seconds between two requests, at least; a site's robots.txt may ask for more.
    """

    pages: int = 500
    depth: int = 5
    pause: float = 0.5

    def __post_init__(self) -> None:
        """Refuse limits that allow no page.

        Raises:
            SettingsError: One is too small.
        """
        for name, value, least in (("pages", self.pages, 1), ("depth", self.depth, 0), ("pause", self.pause, 0)):
            if not value >= least:
                msg = f"The {name} of a crawl cannot be {value}."
                raise SettingsError(msg, hint=f"Give {least} or more.")

"""The pages of one site, breadth first: one request at a time, within what its robots.txt allows."""

from __future__ import annotations

import mimetypes
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import httpx

from anabranch.errors import ReadingError, UserError
from anabranch.ingestion.crawl_limits import CrawlLimits
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.readers import READERS
from anabranch.readers.document import Failure
from anabranch_sources.web.content_type import EXTENSIONS
from anabranch_sources.web.fetcher import ElsewhereError, FetchedPage, Fetcher
from anabranch_sources.web.page_links import PageLinks, links_of
from anabranch_sources.web.robots_txt import Robots, robots_of
from anabranch_sources.web.sitemap import listed_pages
from anabranch_sources.web.ssrf_guard import parsed

HTML = frozenset({".html", ".xhtml"})


class Crawler:
    """Goes through one site."""

    def __init__(self, fetcher: Fetcher, limits: CrawlLimits, *, sleep: Callable[[float], None] = time.sleep) -> None:
        """Take who fetches, how far to go, and how to wait."""
        self._fetcher = fetcher
        self._limits = limits
        self._sleep = sleep

    def pages(self, start: str, folder: Path) -> Iterator[FoundFile | Failure]:
        """Yield the pages of the site, the first one first, and a failure for each that cannot be had.

        A page belongs to the site if it has the host of the first page, where that ended after redirects, and lies in
        its folder: a crawl of `https://example.org/docs/` stays below `/docs/`.

        Args:
            start: Address of the first page.
            folder: Where the files go, each in a folder of its own.
        """
        try:
            first = _fetched(self._fetcher, start, folder)
        except ReadingError as error:
            yield Failure(start, error.reason, str(error))
            return
        # What anybody can write leads into nobody's own network, whatever its name means a moment later.
        fetcher = self._fetcher.public_only() if first.is_public else self._fetcher
        robots = robots_of(first.address, fetcher)
        if not robots.allow(first.address):
            _forget(first)
            yield Failure(start, "refused", "The site's robots.txt does not allow it, or could not be read.")
            return
        yield from _Site(fetcher, robots, start, first, self._limits, self._sleep).pages(folder)


class _Site:
    """What is known of one site: the addresses to fetch, and those that were."""

    def __init__(
        self,
        fetcher: Fetcher,
        robots: Robots,
        start: str,
        first: FetchedPage,
        limits: CrawlLimits,
        sleep: Callable[[float], None],
    ) -> None:
        self._fetcher = fetcher
        self._robots = robots
        self._start = start
        self._first = first
        self._limits = limits
        self._sleep = sleep
        self._origin, self._top = _place(first.address)
        self._due: deque[tuple[str, int]] = deque()
        self._seen = {start, first.address}

    def pages(self, folder: Path) -> Iterator[FoundFile | Failure]:
        yield from self._taken(self._first, self._start, 0)
        sitemaps = [*self._robots.sitemaps] or [str(httpx.URL(self._first.address).join("/sitemap.xml"))]
        # As many as could be fetched at most: a site may list a million pages.
        self._note(islice(listed_pages(sitemaps, self._fetcher), 100 * self._limits.pages), 1)
        count = 1
        while self._due and count < self._limits.pages:
            address, depth = self._due.popleft()
            self._sleep(self._robots.pause(self._limits.pause))
            try:
                page = _fetched(self._fetcher, address, folder, self._is_here)
            except ElsewhereError:
                continue  # a link that leads out of the site by a detour
            except ReadingError as error:
                count += 1
                yield Failure(address, error.reason, str(error))
                continue
            count += 1
            if page.address != address and page.address in self._seen:
                _forget(page)  # the same page under another address
                continue
            self._seen.add(page.address)
            yield from self._taken(page, page.address, depth)
        if self._due:
            msg = (
                f"{count} pages were fetched, and {len(self._due)} more addresses are known: --crawl-pages takes more."
            )
            yield Failure(f"{self._start} (further pages)", "limit", msg)

    def _taken(self, page: FetchedPage, address: str, depth: int) -> Iterator[FoundFile]:
        # Before the page is handed on: whoever reads it deletes it.
        links = links_of(page.path, page.address) if page.path.suffix in HTML else PageLinks()
        self._note(links.addresses, depth + 1)
        if links.is_indexed:
            yield FoundFile(page.path, address, identity=address, is_copy=True, metadata={"url": address})
        else:
            _forget(page)

    def _note(self, addresses: Iterator[str] | tuple[str, ...], depth: int) -> None:
        if depth > self._limits.depth:
            return
        for address in addresses:
            if address not in self._seen and self._is_here(address) and _may_be_read(address):
                self._seen.add(address)
                self._due.append((address, depth))

    def _is_here(self, address: str) -> bool:
        try:
            url = parsed(address)
        except UserError:
            return False
        origin, _ = _place(str(url))
        return origin == self._origin and url.path.startswith(self._top) and self._robots.allow(str(url))


def _fetched(fetcher: Fetcher, address: str, folder: Path, within: Callable[[str], bool] | None = None) -> FetchedPage:
    own = Path(tempfile.mkdtemp(dir=folder))
    try:
        return fetcher.page(address, own, within=within)
    except ReadingError:
        # With what came before it failed: a crawl of pages that are all too large would fill the disk.
        shutil.rmtree(own, ignore_errors=True)
        raise


def _place(address: str) -> tuple[tuple[str, str, int | None], str]:
    """Return scheme, host and port of an address, and the folder that it lies in."""
    url = httpx.URL(address)
    return (url.scheme, url.host, url.port), url.path[: url.path.rindex("/") + 1]


def _may_be_read(address: str) -> bool:
    """Tell whether text is to be had at an address, as far as its ending says; one that says nothing may have some."""
    ending = PurePosixPath(unquote(httpx.URL(address).path)).suffix.lower()
    kind = mimetypes.guess_type(f"a{ending}")[0]
    # A picture could be read by OCR, but those that pages show are seldom of text.
    is_picture = kind is not None and kind.startswith("image/")
    return kind is None or (not is_picture and (ending in READERS or kind in EXTENSIONS))


def _forget(page: FetchedPage) -> None:
    page.path.unlink(missing_ok=True)
    with suppress(OSError):
        page.path.parent.rmdir()

"""Web pages as documents: those at the given addresses, and with a crawl those that they link to."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.ingestion.address_source import FetchOptions
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.readers.document import Failure
from anabranch.readers.faults import end_with_fault
from anabranch_sources.web import Crawler, Fetcher, parse_address


class WebPages:
    """The pages at some addresses."""

    def __init__(self, addresses: Sequence[str], options: FetchOptions) -> None:
        """Take addresses; with `options.crawl`, the pages that each page leads to are fetched as well.

        Raises:
            UserError: One of them is not an address of the web.
        """
        self._urls = list(dict.fromkeys(str(parse_address(url)) for url in addresses))
        self._options = options
        self._fetcher = Fetcher(private=options.private_urls)
        self._known = len(self._urls)

    def __len__(self) -> int:
        """Return the number of known pages."""
        return self._known

    def __iter__(self) -> Iterator[FoundFile | Failure]:
        """Yield each page, and a failure for one that cannot be fetched."""
        for url in self._urls:
            yield from end_with_fault(url, self._pages(url))

    def is_missing(self, identity: str) -> bool:  # noqa: ARG002  # a source is asked this
        """Return False: a page that does not answer today may answer tomorrow."""
        return False

    def _pages(self, url: str) -> Iterator[FoundFile | Failure]:
        if self._options.crawl is None:
            yield self._page(url)
            return
        self._known -= 1
        for item in Crawler(self._fetcher, self._options.crawl).pages(url, self._options.folder):
            self._known += 1
            yield item

    def _page(self, url: str) -> FoundFile:
        path = self._fetcher.fetch(url, Path(tempfile.mkdtemp(dir=self._options.folder)))
        return FoundFile(path, url, identity=url, is_copy=True, metadata={"url": url})

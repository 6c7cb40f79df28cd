"""What brings the documents at addresses: pages of the web, objects in buckets, and what other packages add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from anabranch.errors import UserError
from anabranch.ingestion.crawl_limits import CrawlLimits
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.readers.document import Failure
from anabranch.registry import Registry


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How documents are brought.

    Attributes:
        folder: Where copies go, each into a folder of its own.
        private_urls: Whether they may come from addresses of one's own network.
        crawl: How far to follow the links of pages; None for not at all.
    """

    folder: Path
    private_urls: bool = False
    crawl: CrawlLimits | None = None


class AddressSource(Protocol):
    """The documents at some addresses, to be gone through once; the length is what is known so far, and may grow."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[FoundFile | Failure]: ...

    def is_missing(self, identity: str) -> bool:
        """Tell, after the last document, whether one that the corpus knows is gone from what was gone through."""
        ...


class SourceMaker(Protocol):
    """Makes the source of addresses."""

    def __call__(self, addresses: Sequence[str], options: FetchOptions) -> AddressSource:
        """Take the addresses; nothing is fetched yet.

        Raises:
            UserError: One of them cannot be one.
        """
        ...


SOURCES: Registry[SourceMaker] = Registry("source", {}, use="Reading from {}://")
"""By the scheme of an address, lower case. A package adds one through the group of entry points `anabranch.sources`:

    [project.entry-points."anabranch.sources"]
    sftp = "my_package.sftp:SftpFolders"
"""


def sources_of(addresses: Sequence[str], options: FetchOptions) -> list[AddressSource]:
    """Return the sources of addresses, in the order in which each is first asked for.

    Raises:
        UserError: One is of no kind that is known, or cannot be one.
        MissingExtraError: The plugin that brings it, or what that needs, is not installed.
    """
    asked: dict[SourceMaker, list[str]] = {}
    for address in addresses:
        asked.setdefault(_maker_of(address), []).append(address)
    return [make(given, options) for make, given in asked.items()]


def _maker_of(address: str) -> SourceMaker:
    scheme = address.partition("://")[0].lower()
    if scheme not in SOURCES:
        known = ", ".join(f"{name}://" for name in SOURCES.names)
        # The rest of it is not repeated: there may be a password in it.
        raise UserError(f"Nothing here reads addresses that begin with {scheme}://.", hint=f"Known: {known}.")
    return SOURCES.get(scheme)

"""Sources of documents at addresses: web pages, objects in buckets, and what other packages add."""

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
    """How documents are fetched.

    Attributes:
        folder: The folder for copies, each in its own subfolder.
        private_urls: Whether addresses of the local network are allowed.
        crawl: How far to follow links; None for not at all.
    """

    folder: Path
    private_urls: bool = False
    crawl: CrawlLimits | None = None


class AddressSource(Protocol):
    """The documents at some addresses, for one iteration; the length counts the known ones and may grow."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[FoundFile | Failure]: ...

    def is_missing(self, identity: str) -> bool:
        """Tell, after the iteration, whether a document in the corpus is gone from these addresses."""
        ...


class SourceMaker(Protocol):
    """Creates a source for addresses."""

    def __call__(self, addresses: Sequence[str], options: FetchOptions) -> AddressSource:
        """Return the source; it fetches nothing yet.

        Raises:
            UserError: An address is invalid.
        """
        ...


SOURCES: Registry[SourceMaker] = Registry("source", {}, use="Reading from {}://")
"""By the scheme of an address, lower case. A package adds one through the group of entry points `anabranch.sources`:

    [project.entry-points."anabranch.sources"]
    sftp = "my_package.sftp:SftpFolders"
"""


def sources_of(addresses: Sequence[str], options: FetchOptions) -> dict[str, AddressSource]:
    """Return the sources by their addresses, in the order of their first address.

    Raises:
        UserError: An address has an unknown scheme, or is invalid.
        MissingExtraError: The plugin for the scheme, or its dependency, is not installed.
    """
    by_maker: dict[SourceMaker, list[str]] = {}
    for address in addresses:
        by_maker.setdefault(_maker_of(address), []).append(address)
    return {", ".join(given): make(given, options) for make, given in by_maker.items()}


def _maker_of(address: str) -> SourceMaker:
    scheme = address.partition("://")[0].lower()
    if scheme not in SOURCES:
        known = ", ".join(f"{name}://" for name in SOURCES.names)
        # Only the scheme is named, because the rest may contain a password.
        raise UserError(f"Addresses that begin with {scheme}:// cannot be read.", hint=f"Known: {known}.")
    return SOURCES.get(scheme)

"""Lists what a corpus holds, without opening it for searches or writing to it."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_snapshot import Listed, Overview
from anabranch.store.stores import open_listing


def overview(corpus: StrPath) -> Overview:
    """Count what is in a corpus, whatever its access tags: this is its owner's view.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    with open_listing(corpus) as listing:
        return listing.overview()


def documents(corpus: StrPath, most: int | None = None) -> Iterator[Listed]:
    """Yield the documents of a corpus by source, whatever their access tags.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    with open_listing(corpus) as listing:
        yield from listing.listed(most)

"""Everything that a run takes in: files of folders, members of archives, what is at addresses.

Copies (pages, members) are made one at a time, when they are asked for, in a temporary folder that goes with the run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from anabranch.ingestion.address_source import AddressSource, FetchOptions, sources_of
from anabranch.ingestion.crawl_limits import CrawlLimits
from anabranch.ingestion.directory_walk import FoundFile, Walked, identity_of, survey
from anabranch.ingestion.ingest_root import IngestRoot
from anabranch.readers.document import Failure
from anabranch.store.file_identity import archives_of, is_gone, is_url
from anabranch.text.normalization import storable


class Gathered:
    """What was asked for, one file after the other; to be gone through once.

    Yields `FoundFile` for a file, and `Failure` for what cannot be had: a page that does not answer, a member with a
    password. Whoever takes a file in calls its `discard` once it has been read. The length is what is known so far; it
    grows with each archive that is opened.
    """

    def __init__(self, walked: Walked, folder: Path, *, archives: bool, sources: Sequence[AddressSource] = ()) -> None:
        """Take what was found, and what is at addresses; copies go into `folder`."""
        self._walked = walked
        self._folder = folder
        self._archives = archives
        self._sources = sources
        self._known = len(walked.files)
        self._here: set[str] = set()
        self._read_whole: set[str] = set()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that are gone through, resolved."""
        return self._walked.folders

    @property
    def files(self) -> tuple[FoundFile, ...]:
        """The files, and the archives before they are opened."""
        return self._walked.files

    def __len__(self) -> int:
        return self._known + sum(map(len, self._sources))

    def __iter__(self) -> Iterator[FoundFile | Failure]:
        from anabranch.ingestion.archives import is_archive

        for found in self._walked.files:
            self._here.add(identity_of(found))
            # A folder may be called like an archive.
            if not is_archive(found.path.name) or not _is_file(found.path):
                yield found
            elif self._archives:
                yield from self._members(found)
            else:
                yield Failure(found.source, "unsupported", "It is an archive, and is opened only with --archives.")
        for source in self._sources:
            yield from source

    def is_missing(self, identity: str) -> bool:
        """Tell, after the last file, whether something that the corpus knows is gone from what was gone through.

        True for a file below one of the folders that does not exist any more, and for a member that is not in its
        archive, or at the addresses that were asked for, any more. False for everything elsewhere.
        """
        if identity in self._here:
            return False
        if is_url(identity):
            return any(source.is_missing(identity) for source in self._sources)
        if any(archive in self._read_whole for archive in archives_of(identity)):
            return True
        path = Path(identity)
        # Only what lies where this run has looked: a file that was given by itself before is not missing because
        # another folder is ingested.
        below = any(path.is_relative_to(storable(str(folder))) for folder in self._walked.folders)
        return below and is_gone(identity)

    def _members(self, found: FoundFile) -> Iterator[FoundFile | Failure]:
        from anabranch.ingestion.archives import members

        whole, archive = True, identity_of(found)
        self._known -= 1
        for item in members(found, self._folder):
            self._known += 1
            # A failure under the name of the archive itself: it was not read to its end, and what did not come may be
            # there.
            if item.source == found.source:
                whole = False
            # A member that cannot be read today is there all the same.
            self._here.add(storable(f"{archive}{item.source.removeprefix(found.source)}"))
            yield item
        if whole:
            self._read_whole.add(archive)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # whoever looks at it says why
        return False


@contextmanager
def gathered(
    paths: Sequence[Path | str],
    *,
    skip: Collection[Path] = (),
    archives: bool = False,
    follow_links: bool = False,
    private_urls: bool = False,
    crawl: CrawlLimits | None = None,
    root: IngestRoot | None = None,
) -> Iterator[Gathered]:
    """Find what there is to take in; no archive is opened and no page fetched before it is asked for.

    Args:
        paths: Files, folders to walk, and addresses (as text; a `Path` is never an address).
        skip: Left out with all that is below it.
        archives: Open archives (ZIP, tar) and take in what is in them.
        follow_links: Follow symbolic links out of the folders.
        private_urls: Whether pages may come from addresses of one's own network.
        crawl: How far to follow the links of pages; None for not at all.
        root: Where `paths` count from, and what of it may be read; no page is fetched then.

    Raises:
        UserError: A path does not exist or may not be read, or an address is none that can be read.
    """
    asked = [path for path in paths if root is None and isinstance(path, str) and is_url(path)]
    files = [Path(path) for path in paths if path not in asked]
    walked = survey(files, skip, follow_links=follow_links, root=root)
    # Only where something is copied: a run over a folder needs no place for it.
    with tempfile.TemporaryDirectory(prefix="anabranch-") if archives or asked else nullcontext("") as folder:
        yield from_addresses(
            asked, Path(folder), private_urls=private_urls, crawl=crawl, walked=walked, archives=archives
        )


def from_addresses(
    asked: Sequence[str],
    folder: Path,
    *,
    private_urls: bool,
    crawl: CrawlLimits | None = None,
    walked: Walked | None = None,
    archives: bool = False,
) -> Gathered:
    """Return what there is at addresses, and what a walk came upon; copies go into `folder`.

    Raises:
        UserError: One of them is none that can be read.
    """
    sources = sources_of(asked, FetchOptions(folder, private_urls, crawl))
    return Gathered(walked or Walked((), ()), folder, archives=archives, sources=sources)

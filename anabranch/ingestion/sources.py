"""The input of an ingest run: files in folders, members of archives, and documents at addresses.

Copies (pages, members) are made one at a time, on demand, in a temporary folder that is deleted after the run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from anabranch.ingestion.address_source import AddressSource, FetchOptions, sources_of
from anabranch.ingestion.crawl_limits import CrawlLimits
from anabranch.ingestion.directory_walk import FoundFile, Walked, identity_of, survey
from anabranch.ingestion.ingest_root import IngestRoot
from anabranch.readers.document import Failure
from anabranch.readers.documentation_site import site_tool
from anabranch.readers.faults import end_with_fault
from anabranch.store.file_identity import archives_of, is_gone, is_url
from anabranch.text.normalization import storable


class Gathered:
    """The input files, for one iteration.

    Yields `FoundFile` for a file, and `Failure` for what cannot be read: a page that does not answer, a member with a
    password. The consumer calls `discard` after reading a file. The length counts the known files and grows with each
    archive that is opened.
    """

    def __init__(
        self, walked: Walked, folder: Path, *, archives: bool, sources: Mapping[str, AddressSource] | None = None
    ) -> None:
        """Take the files of a walk, and sources by their addresses; copies go into `folder`."""
        self._walked = walked
        self._folder = folder
        self._archives = archives
        self._sources = sources or {}
        self._failed: set[str] = set()
        self._known = len(walked.files)
        self._here: set[str] = set()
        self._read_whole: set[str] = set()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The walked folders, resolved."""
        return self._walked.folders

    @property
    def files(self) -> tuple[FoundFile, ...]:
        """The files, and the archives before they are opened."""
        return self._walked.files

    def __len__(self) -> int:
        return self._known + sum(map(len, self._sources.values()))

    def __iter__(self) -> Iterator[FoundFile | Failure]:
        from anabranch.ingestion.archives import is_archive

        for found in self._walked.files:
            self._here.add(identity_of(found))
            if tool := site_tool(found.path):
                yield Failure(found.source, "unsupported", f"{tool} made it beside its pages, and it is no text.")
                continue
            # A folder may be named like an archive.
            if not is_archive(found.path.name) or not _is_file(found.path):
                yield found
            elif self._archives:
                yield from self._members(found)
            else:
                yield Failure(found.source, "unsupported", "It is an archive; --archives opens it.")
        for name, source in self._sources.items():
            for item in end_with_fault(name, source):
                # What a source that failed has not seen may be there.
                if isinstance(item, Failure) and item.source == name:
                    self._failed.add(name)
                yield item

    def is_missing(self, identity: str) -> bool:
        """Tell, after the iteration, whether a file in the corpus is gone from this input.

        True for a file that no longer exists below the walked folders, in an opened archive, or at the addresses. False
        for files elsewhere.
        """
        if identity in self._here:
            return False
        if is_url(identity):
            whole = [source for name, source in self._sources.items() if name not in self._failed]
            return any(source.is_missing(identity) for source in whole)
        if any(archive in self._read_whole for archive in archives_of(identity)):
            return True
        path = Path(identity)
        # Only below the walked folders: a file of an earlier run is not gone because this run reads another folder.
        below = any(path.is_relative_to(storable(str(folder))) for folder in self._walked.folders)
        return below and is_gone(identity)

    def _members(self, found: FoundFile) -> Iterator[FoundFile | Failure]:
        from anabranch.ingestion.archives import members

        whole, archive = True, identity_of(found)
        self._known -= 1
        for item in end_with_fault(found.source, members(found, self._folder)):
            self._known += 1
            # A failure of the archive itself: it was not read to its end, so missing members may still be there.
            if item.source == found.source:
                whole = False
            # A member that cannot be read still exists.
            self._here.add(storable(f"{archive}{item.source.removeprefix(found.source)}"))
            yield item
        if whole:
            self._read_whole.add(archive)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # reading it reports why
        return False


@contextmanager
def gather(
    paths: Sequence[Path | str],
    *,
    skip: Collection[Path] = (),
    archives: bool = False,
    follow_links: bool = False,
    private_urls: bool = False,
    crawl: CrawlLimits | None = None,
    root: IngestRoot | None = None,
) -> Iterator[Gathered]:
    """Find the input files; archives are opened and pages fetched only on demand.

    Args:
        paths: Files, folders to walk, and addresses (as text; a `Path` is never an address).
        skip: Paths to leave out, with everything below them.
        archives: Open archives (ZIP, tar).
        follow_links: Follow symbolic links out of the folders.
        private_urls: Whether pages may come from the local network.
        crawl: How far to follow the links of pages; None for not at all.
        root: The folder to which `paths` are relative, and which files in it may be read; no page is fetched then.

    Raises:
        UserError: A path does not exist or may not be read, or an address cannot be read.
    """
    addresses = [path for path in paths if root is None and isinstance(path, str) and is_url(path)]
    files = [Path(path) for path in paths if path not in addresses]
    walked = survey(files, skip, follow_links=follow_links, root=root)
    # A run over folders copies nothing and needs no temporary folder.
    with tempfile.TemporaryDirectory(prefix="anabranch-") if archives or addresses else nullcontext("") as folder:
        yield gather_addresses(
            addresses, Path(folder), private_urls=private_urls, crawl=crawl, walked=walked, archives=archives
        )


def gather_addresses(
    addresses: Sequence[str],
    folder: Path,
    *,
    private_urls: bool,
    crawl: CrawlLimits | None = None,
    walked: Walked | None = None,
    archives: bool = False,
) -> Gathered:
    """Return the documents at addresses and the files of a walk; copies go into `folder`.

    Raises:
        UserError: An address cannot be read.
    """
    sources = sources_of(addresses, FetchOptions(folder, private_urls, crawl))
    return Gathered(walked or Walked((), ()), folder, archives=archives, sources=sources)

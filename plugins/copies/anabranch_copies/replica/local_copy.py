"""The local copy of a published corpus: complete, verified files of one or more generations.

::

    REPLICAS/1f3a.../
      lock                       held by the process that fetches files
      confirmed.json             the last generation known to be current, and when
      generations/000007-1f3a/   catalog.json  corpus.db  and what `anabranch.store.index.manifest` lists
      segments/7c1f09aa/         shared by the generations
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from filelock import FileLock

from anabranch.errors import (
    AnabranchError,
    CorpusDamagedError,
    CorpusEmptyError,
    CorpusNotFoundError,
    IndexDamagedError,
    OperationError,
)
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_handles import embedder_of
from anabranch.store.index.manifest import home_of, list_folder, read_manifest
from anabranch.store.index.segment import sha256, sync
from anabranch.store.index.segment_index import Index
from anabranch.store.schema import VERSION
from anabranch_copies.replica.object_store import ObjectStore, digest_in, digest_of_bytes, fetch
from anabranch_copies.replica.pointer import Catalog, Pointer, Release, decode_pointer, read_catalog
from anabranch_copies.replica.replica_database import Former, build_database
from anabranch_copies.replica.replica_publisher import CORPUS_ID
from anabranch_copies.replica.replica_reader import Freshness, ReplicaReader, is_read

FETCHERS = 8
_CATALOG = "catalog.json"
_PATH = re.compile(r"(?:generations|segments)(?:/[\w-][\w.-]*)+")


class LocalCopy:
    """One published corpus on this machine; blocks."""

    def __init__(self, objects: ObjectStore, cache: Path, most: float) -> None:
        """Take the place of the corpus, the folder for copies, and the greatest age in seconds."""
        self.objects = objects
        self._most = most
        # Named by the address, because another bucket may have a corpus of the same name.
        self._folder = cache / digest_of_bytes(objects.shown.encode())[:16]

    def follow(self, reader: ReplicaReader | None) -> ReplicaReader:
        """Return a reader of the current generation: the given one if it still is.

        Raises:
            CorpusNotFoundError: Nothing is published there.
            CorpusEmptyError: The corpus holds no passage.
            CorpusDamagedError: What is published is damaged.
            CorpusUnreachableError: The store does not answer.
            OperationError: The disk of this machine is full or fails.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                asked = time.time()
                release = self._pointer().current
                if not release.catalog:
                    self._refuse_empty()
                if reader is None or reader.manifest.name != release.name or reader.damaged:
                    if reader is not None and reader.manifest.name == release.name:
                        self._repair(release)
                    reader = self._open_again(release, asked)
                reader.freshness.confirm(asked)
                self._note(release.name, asked)
                self._sweep(release.name)
                return reader
        except (OSError, sqlite3.DatabaseError) as error:
            msg = f"The copy in {self._folder} could not be written: {error}."
            raise OperationError(msg, hint="Check the space on the disk, and ANABRANCH_REPLICAS.") from error

    def last(self) -> ReplicaReader | None:
        """Return a reader of the last known generation, if that is recent enough."""
        try:
            noted = json.loads((self._folder / "confirmed.json").read_text(encoding="utf-8"))
            name, at = str(noted["name"]), float(noted["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        # A time in the future means that the clock was set since, so the age is unknown.
        if not 0 <= time.time() - at <= self._most:
            return None
        # Errors are suppressed, because the caller reports why the current generation cannot be fetched.
        with suppress(AnabranchError, OSError), self._locked():
            return self._open(name, at)
        return None

    def _locked(self) -> FileLock:
        # With a timeout, so that a process that hangs does not block the others for ever.
        return FileLock(self._folder / "lock", timeout=self._most)

    def _refuse_empty(self) -> NoReturn:
        # Removed documents must not come back while the store does not answer.
        (self._folder / "confirmed.json").unlink(missing_ok=True)
        self._sweep("")
        raise CorpusEmptyError(f"The corpus in {self.objects.shown} holds no passage.")

    def _pointer(self) -> Pointer:
        found = self.objects.pointer()
        if found is None:
            msg = f"No corpus is published in {self.objects.shown}."
            raise CorpusNotFoundError(msg, hint="Publish one: anabranch corpus publish TARGET --corpus FOLDER")
        return decode_pointer(found[0], self.objects.shown)

    def _open_again(self, release: Release, at: float) -> ReplicaReader:
        try:
            self._fetch(release)
            return self._open(release.name, at)
        except IndexDamagedError:
            # The local files are damaged, not the published ones. Repaired only once, to avoid a loop.
            self._repair(release)
            self._fetch(release)
            return self._open(release.name, at)

    def _open(self, name: str, at: float) -> ReplicaReader:
        embedder = embedder_of(self._folder, read_manifest(self._folder, name))
        freshness = Freshness(self.objects.shown, self._most, at)
        return ReplicaReader(self._folder, name, embedder, self.objects.shown, freshness)

    def _fetch(self, release: Release) -> None:
        """Fetch the missing files of a generation; it is complete once its database exists."""
        home = home_of(self._folder, release.name)
        if (home / DATABASE).exists():
            return
        fetch(self.objects, release.catalog, home / _CATALOG)
        catalog = read_catalog(home / _CATALOG)
        if catalog.version != VERSION:
            msg = f"The corpus in {self.objects.shown} has version {catalog.version}; this program reads {VERSION}."
            raise CorpusDamagedError(msg, hint="Use the same version of Anabranch on both sides.")
        missing = {path: name for path, name in catalog.index.items() if not (self._folder / path).exists()}
        if wrong := next((path for path in missing if not _PATH.fullmatch(path)), None):
            raise CorpusDamagedError(f"{self.objects.shown} lists an unexpected file: {wrong!r}.")
        with ThreadPoolExecutor(FETCHERS) as fetchers:
            list(fetchers.map(lambda path: fetch(self.objects, missing[path], self._folder / path), missing))
        self._build(home, catalog)

    def _build(self, home: Path, catalog: Catalog) -> None:
        index = Index(self._folder, catalog.name)
        alive: dict[int, int] = {}
        for segment, mask in zip(index.segments, index.masks(None), strict=True):
            documents = segment.documents if mask is None else segment.documents[mask[segment.documents[:, 2]]]
            alive |= dict(zip(documents[:, 0].tolist(), documents[:, 1].tolist(), strict=True))
        part, archive = home / f".{DATABASE}", home / ".archive"

        def fetch_archive(name: str) -> Path:
            fetch(self.objects, name, archive)
            return archive

        former = self._former(home, catalog)
        whole = False
        if former is not None:
            with suppress(sqlite3.DatabaseError):  # it is damaged
                whole = build_database(part, catalog, alive, fetch_archive, former)
        if not whole and not build_database(part, catalog, alive, fetch_archive, None):
            msg = f"Documents of the corpus in {self.objects.shown} are missing."
            raise CorpusDamagedError(msg, hint="Publish the corpus again with --anew, which sends every file.")
        archive.unlink(missing_ok=True)
        sync(part)
        part.replace(home / DATABASE)
        sync(home)

    def _former(self, home: Path, catalog: Catalog) -> Former | None:
        """Return the latest database that can be updated to this catalog."""
        for other in sorted(self._list_homes(), reverse=True):
            before = self._catalog_of(other)
            if before is None or other == home or not (other / DATABASE).exists():
                continue
            if (before.version, before.facts[CORPUS_ID]) == (VERSION, catalog.facts[CORPUS_ID]):
                return Former(other / DATABASE, before)
        return None

    def _list_homes(self) -> list[Path]:
        return list_folder(self._folder / "generations")

    @staticmethod
    def _catalog_of(home: Path) -> Catalog | None:
        try:
            return read_catalog(home / _CATALOG)
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _repair(self, release: Release) -> None:
        """Remove the database of a generation, and the damaged files of its index."""
        home = home_of(self._folder, release.name)
        catalog = self._catalog_of(home)
        for path, name in (catalog.index if catalog else {}).items():
            file = self._folder / path
            # Intact files stay, because other generations use them, too.
            if file.exists() and sha256(file) != digest_in(name):
                file.unlink()
        (home / DATABASE).unlink(missing_ok=True)

    def _note(self, name: str, at: float) -> None:
        part = self._folder / ".confirmed.json"
        part.write_text(json.dumps({"name": name, "at": at}), encoding="utf-8")
        part.replace(self._folder / "confirmed.json")

    def _sweep(self, name: str) -> None:
        """Remove generations that nobody reads, and segments that no other generation uses."""
        for home in self._list_homes():
            if home.name != name and not ((home / DATABASE).exists() and is_read(home)):
                shutil.rmtree(home, ignore_errors=True)
        catalogs = [catalog for home in self._list_homes() if (catalog := self._catalog_of(home))]
        used = {Path(path).parts[1] for catalog in catalogs for path in catalog.index}
        for segment in list_folder(self._folder / "segments"):
            if segment.name not in used:
                shutil.rmtree(segment, ignore_errors=True)

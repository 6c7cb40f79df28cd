"""The copy of a published corpus on this machine: whole files, verified, a generation beside the one before.

::

    REPLICAS/1f3a.../
      lock                       held by the process that brings files
      confirmed.json             which generation was the current one, and when
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
        """Take where it is published, the folder for copies, and the greatest age in seconds."""
        self.objects = objects
        self._most = most
        # By the address: a corpus of the same name in another bucket is another one.
        self._folder = cache / digest_of_bytes(objects.shown.encode())[:16]

    def follow(self, reader: ReplicaReader | None) -> ReplicaReader:
        """Return a reader of what is published now: this one, if it is one.

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
                    self._empty()
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
        """Return a reader of what was current when somebody here looked last, if that is recent enough."""
        try:
            noted = json.loads((self._folder / "confirmed.json").read_text(encoding="utf-8"))
            name, at = str(noted["name"]), float(noted["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        # A time to come was noted by a clock that has been set since: nobody knows how long ago it was.
        if not 0 <= time.time() - at <= self._most:
            return None
        # What hinders that is not what the caller has to hear of, who knows why what is published cannot be had.
        with suppress(AnabranchError, OSError), self._locked():
            return self._open(name, at)
        return None

    def _locked(self) -> FileLock:
        # Bounded as everything is: a process that hangs must not hold up the others for longer than they may answer.
        return FileLock(self._folder / "lock", timeout=self._most)

    def _empty(self) -> NoReturn:
        # What was removed must not come back while the store does not answer.
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
            self._bring(release)
            return self._open(release.name, at)
        except IndexDamagedError:
            # What lies here, though what is published is whole. Once: twice would be a loop.
            self._repair(release)
            self._bring(release)
            return self._open(release.name, at)

    def _open(self, name: str, at: float) -> ReplicaReader:
        embedder = embedder_of(self._folder, read_manifest(self._folder, name))
        freshness = Freshness(self.objects.shown, self._most, at)
        return ReplicaReader(self._folder, name, embedder, self.objects.shown, freshness)

    def _bring(self, release: Release) -> None:
        """Bring what is missing of a generation; it is whole once its database is there."""
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
            raise CorpusDamagedError(f"{self.objects.shown} has a file that belongs to no index: {wrong!r}.")
        with ThreadPoolExecutor(FETCHERS) as fetchers:
            list(fetchers.map(lambda path: fetch(self.objects, missing[path], self._folder / path), missing))
        self._build(home, catalog)

    def _build(self, home: Path, catalog: Catalog) -> None:
        index = Index(self._folder, catalog.name)
        alive: dict[int, int] = {}
        for segment, mask in zip(index.segments, index.masks(None), strict=True):
            documents = segment.documents if mask is None else segment.documents[mask[segment.documents[:, 2]]]
            alive |= dict(zip(documents[:, 0].tolist(), documents[:, 1].tolist(), strict=True))
        part, brought = home / f".{DATABASE}", home / ".archive"

        def bring(name: str) -> Path:
            fetch(self.objects, name, brought)
            return brought

        former = self._former(home, catalog)
        whole = False
        if former is not None:
            with suppress(sqlite3.DatabaseError):  # it is damaged
                whole = build_database(part, catalog, alive, bring, former)
        if not whole and not build_database(part, catalog, alive, bring, None):
            msg = f"Documents of the corpus in {self.objects.shown} are missing."
            raise CorpusDamagedError(msg, hint="Publish the corpus again with --anew, which sends every file.")
        brought.unlink(missing_ok=True)
        sync(part)
        part.replace(home / DATABASE)
        sync(home)

    def _former(self, home: Path, catalog: Catalog) -> Former | None:
        """Return the database that needs the fewest changes to become that of this catalog."""
        for other in sorted(self._homes(), reverse=True):
            before = self._catalog_of(other)
            if before is None or other == home or not (other / DATABASE).exists():
                continue
            if (before.version, before.facts[CORPUS_ID]) == (VERSION, catalog.facts[CORPUS_ID]):
                return Former(other / DATABASE, before)
        return None

    def _homes(self) -> list[Path]:
        return list_folder(self._folder / "generations")

    @staticmethod
    def _catalog_of(home: Path) -> Catalog | None:
        try:
            return read_catalog(home / _CATALOG)
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _repair(self, release: Release) -> None:
        """Remove the database of a generation, and the files of its index that are not what was brought."""
        home = home_of(self._folder, release.name)
        catalog = self._catalog_of(home)
        for path, name in (catalog.index if catalog else {}).items():
            file = self._folder / path
            # Whole ones stay: the generation before has them, too.
            if file.exists() and sha256(file) != digest_in(name):
                file.unlink()
        (home / DATABASE).unlink(missing_ok=True)

    def _note(self, name: str, at: float) -> None:
        part = self._folder / ".confirmed.json"
        part.write_text(json.dumps({"name": name, "at": at}), encoding="utf-8")
        part.replace(self._folder / "confirmed.json")

    def _sweep(self, name: str) -> None:
        """Remove generations that nobody reads any more, and segments that none of the others has."""
        for home in self._homes():
            if home.name != name and not ((home / DATABASE).exists() and is_read(home)):
                shutil.rmtree(home, ignore_errors=True)
        catalogs = [catalog for home in self._homes() if (catalog := self._catalog_of(home))]
        used = {Path(path).parts[1] for catalog in catalogs for path in catalog.index}
        for segment in list_folder(self._folder / "segments"):
            if segment.name not in used:
                shutil.rmtree(segment, ignore_errors=True)

"""Publish a corpus in a folder for others to follow; only missing files are sent."""

from __future__ import annotations

import logging
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from anabranch.errors import AnabranchError, CorpusDamagedError, IndexDamagedError, OperationError, SettingsError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.connections import connect_read_only
from anabranch.store.corpus_address import StrPath, folder_of, scheme_of
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_facts import facts_in
from anabranch.store.corpus_folder import require_corpus
from anabranch.store.index.manifest import Manifest, current_name, home_of, segment_home
from anabranch.store.index.publisher import publish
from anabranch.store.index.segment import Segment, damage_error, read_facts, sha256
from anabranch.store.schema import VERSION
from anabranch.store.write_lock import hold_write_lock
from anabranch_copies.replica.folder_objects import check_target
from anabranch_copies.replica.object_address import objects_at
from anabranch_copies.replica.object_store import ObjectStore, digest_in, fetch, name_of
from anabranch_copies.replica.passage_archive import source_blocks, summary_blocks, write_block, write_documents
from anabranch_copies.replica.pointer import (
    Catalog,
    Pointer,
    Release,
    decode_pointer,
    encode_catalog,
    encode_pointer,
    read_catalog,
)

KEPT = 6 * 3600.0
"""Seconds for which an outdated generation, and files of a killed run, stay. A reader that needs
longer for one generation must start again."""

CORPUS_ID = "corpus_id"
"""Fact with the random id of a corpus, which is created when it is first published."""

PUBLISHED = "published"
"""Fact with the last counts of changes that were published: what is there and none of them is another copy's."""

MOST_PUBLISHED = 256
ATTEMPTS = 5
SENDERS = 8

_log = logging.getLogger("anabranch.copies")


@dataclass(frozen=True, slots=True)
class Publication:
    """The result of publishing.

    Attributes:
        target: The place.
        generation: Number of the generation, 0 if the corpus holds no passage.
        files: Number of files that were sent.
        bytes: Their size.
    """

    target: str
    generation: int
    files: int
    bytes: int


class _Snapshot(NamedTuple):
    """The state of a corpus at one moment; its index files may be removed later."""

    folder: Path
    connection: sqlite3.Connection
    facts: dict[str, str]
    manifest: Manifest | None

    @property
    def name(self) -> str:
        return self.manifest.name if self.manifest else ""

    @property
    def order(self) -> tuple[int, int]:
        return int(self.facts.get("changes", 0)), self.manifest.number if self.manifest else 0


def publish_replica(corpus: StrPath, target: StrPath, *, anew: bool = False, wait: float = 0.0) -> Publication:
    """Publish the current state of a corpus, for `open_corpus(target)` on any machine.

    Args:
        corpus: A corpus in a folder.
        target: `s3://BUCKET/PREFIX`, or a folder.
        anew: Send every file again, because the present ones may be damaged.
        wait: Seconds to wait for a writer.

    Raises:
        CorpusNotFoundError: There is no corpus.
        CorpusLockedError: It is being written to.
        CorpusDamagedError: It is damaged, or what is published is.
        CorpusUnreachableError: The target does not answer.
        UserError: The target is a folder with other files.
        SettingsError: The target holds another corpus or a later generation, or refuses the credentials.
    """
    folder, objects = require_corpus(corpus), objects_at(target)
    if scheme_of(target) == "file":
        check_target(folder_of(target))
    with TemporaryDirectory(prefix="anabranch-") as scratch:
        upload = _Upload(objects, Path(scratch))
        for _ in range(ATTEMPTS):
            # The pointer is read before the corpus, so that another publisher's generation cannot be later.
            found = objects.pointer()
            before = decode_pointer(found[0], objects.shown) if found else None
            with _snapshot(folder, wait) as snapshot:
                _check_order(before, snapshot, objects.shown)
                if before and before.current.name == snapshot.name and not anew:
                    return upload.done(snapshot)
                try:
                    made = _send_generation(upload, snapshot, before, anew=anew)
                except (FileNotFoundError, IndexDamagedError):
                    # A writer has published twice meanwhile, and removed files that were being sent.
                    if current_name(folder) == snapshot.name:
                        raise
                    continue
            if upload.seconds > KEPT:
                break  # another publisher may have removed the first files
            if objects.swap(encode_pointer(made.pointer), found[1] if found else None):
                _tidy(objects, made)
                return upload.done(snapshot)
    msg = f"The corpus could not be published to {objects.shown}: other publishers were first, or it took too long."
    raise OperationError(msg, hint="Try again.")


class _Made(NamedTuple):
    pointer: Pointer
    names: set[str]


class _Upload:
    """Sends files, each once in a run, however often the run starts again."""

    def __init__(self, objects: ObjectStore, scratch: Path) -> None:
        self.objects = objects
        self.scratch = scratch
        self.known: dict[str, str] = {}
        self._sent: dict[str, str] = {}
        self._session = secrets.token_hex(4)
        self._bytes = 0
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def done(self, snapshot: _Snapshot) -> Publication:
        number = snapshot.manifest.number if snapshot.manifest else 0
        return Publication(self.objects.shown, number, len(self._sent), self._bytes)

    def name(self, file: Path, digest: str | None = None) -> str:
        """Return the name of a file there, and send it if it is missing.

        Args:
            file: The file.
            digest: Its recorded checksum; None for a new file.

        Raises:
            IndexDamagedError: Its checksum differs.
        """
        if digest is not None and (there := self._there(digest)):
            return there
        found = sha256(file)
        if digest is not None and found != digest:
            raise damage_error(f"The index file {file} is not what was written.")
        if there := self._there(found):
            return there
        name = name_of(found, self._session)
        self.objects.put(file, name)
        self._sent[found] = name
        self._bytes += file.stat().st_size
        return name

    def _there(self, digest: str) -> str | None:
        return self._sent.get(digest) or self.known.get(digest)


@contextmanager
def _snapshot(folder: Path, wait: float) -> Iterator[_Snapshot]:
    with hold_write_lock(folder, wait=wait):
        with closing(CorpusDatabase(folder)) as database:
            # A killed run may have left documents without an index; both must have the same state.
            manifest = publish(database)
            if database.meta(CORPUS_ID) is None:
                database.keep_meta({CORPUS_ID: secrets.token_hex(16)})
            published = (database.meta(PUBLISHED) or "").split()
            if str(database.changes) not in published:
                database.keep_meta({PUBLISHED: " ".join([*published, str(database.changes)][-MOST_PUBLISHED:])})
        # The lock is held until the transaction has begun, which then sees no changes of writers.
        connection = connect_read_only(folder / DATABASE)
        connection.execute("BEGIN")
        facts = facts_in(connection)
    with closing(connection):
        yield _Snapshot(folder, connection, facts, manifest)


def _check_order(before: Pointer | None, snapshot: _Snapshot, place: str) -> None:
    hint = "Publish it to another place, or remove everything there first."
    if before is None:
        return
    if before.corpus != snapshot.facts[CORPUS_ID]:
        raise SettingsError(f"Another corpus is published in {place}.", hint=hint)
    there = before.current
    is_own = str(there.order[0]) in snapshot.facts[PUBLISHED].split() and there.order <= snapshot.order
    if not is_own or (there.order == snapshot.order and there.name != snapshot.name):
        msg = f"{place} holds a later state than the corpus at {snapshot.folder}, which may be an old copy."
        raise SettingsError(msg, hint=hint)


def _send_generation(upload: _Upload, snapshot: _Snapshot, before: Pointer | None, *, anew: bool) -> _Made:
    """Send the files of a generation, and return the pointer to it."""
    # With `anew`, nothing of the former generation is used, because it may be damaged.
    former = _catalog(upload, before) if before and not anew else None
    names_before = former.names() if former else set()
    upload.known = {digest_in(name): name for name in names_before}
    catalog_name, names = "", set[str]()
    if snapshot.manifest is not None:
        catalog = _send_files(upload, snapshot, snapshot.manifest, former)
        file = upload.scratch / "catalog"
        file.write_bytes(encode_catalog(catalog))
        catalog_name, names = upload.name(file), catalog.names()
    now = time.time()
    releases = [Release(snapshot.name, snapshot.order, catalog_name)]
    if before is not None:
        dropped = tuple(sorted(names_before - names))
        releases.append(replace(before.current, until=now + KEPT, dropped=dropped))
        releases += [release for release in before.releases[1:] if (release.until or 0) > now]
    return _Made(Pointer(snapshot.facts[CORPUS_ID], tuple(releases)), {*names, catalog_name})


def _send_files(upload: _Upload, snapshot: _Snapshot, manifest: Manifest, former: Catalog | None) -> Catalog:
    index = dict[str, str | None]({(home_of(Path(), manifest.name) / "manifest.json").as_posix(): None})
    index |= {path: str(facts["sha256"]) for path, facts in manifest.files.items()}
    for segment in manifest.segments:
        facts = read_facts(segment_home(snapshot.folder, segment))
        home = segment_home(Path(), segment).as_posix()
        index |= {f"{home}/{name}": str(each["sha256"]) for name, each in facts.items()}
    with ThreadPoolExecutor(SENDERS) as senders:
        names = senders.map(lambda each: upload.name(snapshot.folder / each[0], each[1]), index.items())
        sent = dict(zip(index, names, strict=True))
    try:
        passages = _passages(upload, snapshot, manifest, former)
        sources = _blocks(upload, source_blocks(snapshot.connection))
        summaries = _blocks(upload, summary_blocks(snapshot.connection))
    except (sqlite3.DatabaseError, TypeError) as error:
        msg = f"{snapshot.folder / DATABASE} cannot be read: {error}"
        raise CorpusDamagedError(msg, hint="Run `anabranch corpus verify`.") from error
    return Catalog(manifest.name, VERSION, snapshot.facts, sent, passages, sources, summaries)


def _passages(upload: _Upload, snapshot: _Snapshot, manifest: Manifest, former: Catalog | None) -> dict[str, str]:
    names: dict[str, str] = {}
    file = upload.scratch / "passages"
    for segment in manifest.segments:
        # The archive of a segment has the documents from when it was first published; dead ones are ignored later.
        if former is not None and segment in former.passages:
            names[segment] = former.passages[segment]
            continue
        documents = Segment(segment_home(snapshot.folder, segment)).documents
        births = dict(zip(documents[:, 0].tolist(), documents[:, 1].tolist(), strict=True))
        write_documents(snapshot.connection, births, file)
        names[segment] = upload.name(file)
    without = "NOT EXISTS (SELECT 1 FROM chunks c WHERE c.doc_id = d.doc_id AND c.level = 2)"
    births = dict(snapshot.connection.execute(f"SELECT number, born FROM documents d WHERE {without}"))  # noqa: S608
    if births:
        write_documents(snapshot.connection, births, file)
        names[""] = upload.name(file)
    return names


def _blocks(upload: _Upload, found: Iterator[list[Sequence[Any]]]) -> list[tuple[str, str, str]]:
    """Send blocks of rows; return the first and the last key of each, and its name."""
    file, blocks = upload.scratch / "block", []
    for block in found:
        write_block(block, file)
        blocks.append((block[0][0], block[-1][0], upload.name(file)))
    return blocks


def _catalog(upload: _Upload, before: Pointer) -> Catalog | None:
    if not before.current.catalog:
        return None
    file = upload.scratch / "former"
    fetch(upload.objects, before.current.catalog, file)
    return read_catalog(file)


def _tidy(objects: ObjectStore, made: _Made) -> None:
    """Remove old files that no readable generation uses; newer ones may belong to another publisher."""
    used = {*made.names, *(name for each in made.pointer.releases for name in (each.catalog, *each.dropped))}
    try:
        old = [name for name, at in objects.written().items() if name not in used and at < time.time() - KEPT]
        objects.remove(old)
    except (AnabranchError, FileNotFoundError) as error:
        _log.warning("Published, but files that are no longer needed could not be removed: %s", error)

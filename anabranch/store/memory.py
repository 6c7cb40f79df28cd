"""Corpora in the memory of this process, for tests, notebooks and as the smallest example of a store: "memory:NAME".

What is written is gone with the process. Scores are those of a folder, up to rounding: the same analyser, Okapi BM25
and cosines; but every search looks at every passage, so it is for thousands of them and not for millions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from anabranch.errors import CorpusEmptyError, CorpusLockedError, CorpusNotFoundError, SettingsError
from anabranch.models.embedder import Vectors
from anabranch.store.corpus_address import StrPath
from anabranch.store.memory_reader import MemoryCorpus, MemoryReader, document_of, leaves_of, text_of
from anabranch.store.records import Grown, text_key
from anabranch.store.writer_protocol import FileRecord, WriteResult

MOST = 16
"""Named corpora in one process: nobody else removes those that are not needed any more, so that must show."""

_corpora: dict[str, MemoryCorpus] = {}
_lock = threading.Lock()


def forget(address: str) -> None:
    """Let go of a corpus in memory; whoever has opened it keeps what they have."""
    with _lock:
        _corpora.pop(_name_of(address), None)


def _name_of(address: StrPath) -> str:
    name = str(address).partition(":")[2]
    if not name:
        raise SettingsError(f"{address!r} names no corpus.", hint='For example: "memory:notes".')
    return name


class MemoryStore:
    """Corpora by their names."""

    async def open(self, address: StrPath) -> MemoryReader:
        """Return what was published last."""
        corpus = _corpora.get(_name_of(address))
        if corpus is None:
            msg = f"There is no corpus {address!r} in the memory of this process."
            raise CorpusNotFoundError(msg, hint=f"Make one: ingest(YOUR_FOLDER, {address!r})")
        if corpus.reader is None:
            raise CorpusEmptyError(f"The corpus {address!r} holds no passage.", hint="Add documents to it.")
        return corpus.reader

    @contextmanager
    def writer(self, address: StrPath, *, wait: float = 0.0) -> Iterator[MemoryWriter]:
        """Return the one writer of a corpus."""
        name = _name_of(address)
        with _lock:
            # Refused and not forgotten oldest first: another part of the program may be at work with that one.
            if name not in _corpora and len(_corpora) >= MOST:
                msg = f"There are {MOST} corpora in memory already: {', '.join(sorted(_corpora))}."
                raise SettingsError(msg, hint="Let go of one: anabranch.store.memory.forget(ADDRESS)")
            corpus = _corpora.setdefault(name, MemoryCorpus())
        # A lock of threads is enough: no other process sees this memory.
        if not corpus.writing.acquire(timeout=max(wait, 0.0)):
            raise CorpusLockedError(
                f"The corpus {address!r} is being written to.", hint="Try again when that has ended."
            )
        try:
            yield MemoryWriter(str(address), corpus)
        finally:
            corpus.writing.release()


class MemoryWriter:
    """Writes to a corpus in memory, implementing `CorpusWriter`."""

    def __init__(self, address: str, corpus: MemoryCorpus) -> None:
        """Take the corpus, whose lock the maker holds."""
        self._address = address
        self._corpus = corpus
        self._seen: set[tuple[str, str]] = set()

    def meta(self, name: str) -> str | None:
        """Return a fact about the corpus."""
        return self._corpus.meta.get(name)

    def keep_meta(self, facts: Mapping[str, str]) -> None:
        """Keep facts; another language makes another index."""
        self._corpus.is_changed |= facts.get("language", self.meta("language")) != self.meta("language")
        self._corpus.meta |= facts

    def is_empty(self) -> bool:
        """Tell whether it holds no document."""
        return not self._corpus.documents

    def file(self, path: str) -> FileRecord | None:
        """Return what is known of a file."""
        return self._corpus.files.get(path)

    def files(self) -> list[FileRecord]:
        """Return each file, by source."""
        return sorted(self._corpus.files.values(), key=lambda file: file.source)

    def counts(self, path: str) -> tuple[int, int]:
        """Return how many documents and chunks a file holds."""
        found = [document for document in self._corpus.documents.values() if document.path == path]
        return len(found), sum(len(document.chunks) for document in found)

    def holds(self, doc_id: str, digest: str, path: str) -> bool:
        """Tell whether a document is here exactly as it is in its file."""
        known = self._corpus.documents.get(doc_id)
        return known is not None and (known.digest, known.path) == (digest, path)

    def origin(self, source: str) -> str | None:
        """Return the path of the file that a document is from."""
        found = (each.path for each in self._corpus.documents.values() if each.columns["source"] == source)
        return next(found, None)

    def see(self, path: str, doc_id: str) -> bool:
        """Note that a file holds a document; False if that was noted before."""
        is_new = (path, doc_id) not in self._seen
        self._seen.add((path, doc_id))
        return is_new

    def missing_vectors(self, texts: Sequence[str], embedder: str) -> dict[str, str]:
        """Return the texts that have no vector yet, by their key."""
        by_key = {text_key(text): text for text in texts}
        return {key: text for key, text in by_key.items() if (embedder, key) not in self._corpus.vectors}

    def add_vectors(self, keys: Sequence[str], vectors: Vectors, embedder: str) -> None:
        """Keep vectors."""
        rows = np.asarray(vectors, dtype=np.float32)
        self._corpus.vectors |= {(embedder, key): row for key, row in zip(keys, rows, strict=True)}

    def write(self, batch: Sequence[Grown], files: Sequence[FileRecord]) -> WriteResult:
        """Replace documents, and record the files that are finished by them; no document is refused here."""
        # A copy, put in place at once: a reader that goes through the former map must not find it changing.
        documents = {**self._corpus.documents}
        for grown in batch:
            document = document_of(grown)
            documents[document.columns["doc_id"]] = document
        removed = {}
        for record in files:
            gone = [
                doc_id
                for doc_id, document in documents.items()
                if record.complete and document.path == record.path and (record.path, doc_id) not in self._seen
            ]
            for doc_id in gone:
                del documents[doc_id]
            removed[record.path] = len(gone)
            self._seen = {each for each in self._seen if each[0] != record.path}
        # `complete` is about this run and not a fact about the file: a store on disk does not keep it either.
        self._corpus.files |= {record.path: record._replace(complete=True) for record in files}
        self._corpus.is_changed |= bool(batch) or any(removed.values())
        self._corpus.documents = documents
        return WriteResult(removed, [])

    def remove_file(self, path: str) -> int:
        """Remove a file and its documents."""
        kept = {doc_id: each for doc_id, each in self._corpus.documents.items() if each.path != path}
        removed = len(self._corpus.documents) - len(kept)
        self._corpus.files.pop(path, None)
        self._corpus.is_changed |= bool(removed)
        self._corpus.documents = kept
        return removed

    def publish(self, *, quick: bool = False, progress: Callable[[int, int], None] | None = None) -> None:
        """Make a reader of the documents as they are."""
        corpus = self._corpus
        if not corpus.is_changed:
            return
        corpus.generation += 1
        reader = MemoryReader(self._address, corpus, corpus.generation)
        corpus.reader = reader if reader.leaf_count else None
        corpus.is_changed = False
        # As in a folder, vectors of text that is gone may come back with it until a run ends in peace.
        if not quick:
            used = {text_key(text_of(leaf)) for each in corpus.documents.values() for leaf in leaves_of(each)}
            corpus.vectors = {key: row for key, row in corpus.vectors.items() if key[1] in used}
        if progress is not None:
            progress(reader.leaf_count, reader.leaf_count)

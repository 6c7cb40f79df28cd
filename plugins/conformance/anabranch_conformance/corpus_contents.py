"""The documents that the tests ask about, and how they come into a store: through its own writer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import get_args

import pytest

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES, grow
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from anabranch.readers.document import Block, Chunk, Document
from anabranch.store.corpus_embedder import embed_missing
from anabranch.store.protocol import Arm, CorpusReader, Scope
from anabranch.store.records import Grown, content_digest, digest_of
from anabranch.store.stores import open_corpus, open_writer
from anabranch.store.writer_protocol import CorpusWriter, FileRecord, WriteResult

ARMS: tuple[Arm, ...] = get_args(Arm)
EVERYTHING = Scope(access=("board", "staff"))


def note(key: str, title: str, text: str, access: Sequence[str] = (), **metadata: object) -> Document:
    """Return a short document."""
    return Document(f"notes.jsonl#{key}", title, (Block(text),), dict(metadata), tuple(access), key)


def _gauge_book() -> Document:
    blocks = [Block("The gauge book", None, ("The gauge book",), is_heading=True)]
    for part in range(1, 5):
        heading = ("The gauge book", f"Part {part}")
        years = range(part * 100, part * 100 + 60)
        text = " ".join(f"In year {year} the water stood {year % 100} hands high at the gauge." for year in years)
        blocks += [Block(heading[1], None, heading, is_heading=True), Block(text, None, heading)]
    return Document("gauge.md", "The gauge book", tuple(blocks), key="gauge.md")


DOCUMENTS: tuple[Document, ...] = (
    note("weir", "The weir", "The weir was built in 1848 to hold the river back.", year=1848),
    note("mill", "The mill", "The mill grinds corn; its wheel is turned by the river.", year=1790),
    note(
        "bees",
        "Bees",
        "Honey bees dance to tell where the clover flowers.",
        tags=["animals"],
        summary=" How bees tell where flowers are. ",
    ),
    note("pike", "Pike", "The pike hunts in the weeds below the weir.", tags=["animals", "river"]),
    note("pay", "Pay", "The miller earns 4711 a year.", ["board"], year=2024),
    note("keys", "Keys", "The key of the weir hangs in the mill.", ["staff", "board"]),
    note("copy-a", "Note", "Low water on Tuesday.", ["board"]),
    note("copy-b", "Note", "Low water on Tuesday.", ["staff"]),
    _gauge_book(),
)


def keep_facts(writer: CorpusWriter) -> None:
    """Keep the facts that an ingest keeps of a new corpus."""
    facts = {"embedder": load_embedder(DEFAULT_EMBEDDER).name, "spec": DEFAULT_EMBEDDER, "language": "english"}
    writer.keep_meta({**facts, "sizes": json.dumps(DEFAULT_SIZES)})


def take_in(writer: CorpusWriter, files: Mapping[str, Sequence[Document]]) -> WriteResult:
    """Write documents by the file that they are from, as an ingest does; each file holds these and no others."""
    embedder = load_embedder(DEFAULT_EMBEDDER)
    batch = [
        Grown(document, grow(document, embedder, DEFAULT_SIZES), content_digest(document), path)
        for path, documents in files.items()
        for document in documents
    ]
    for grown in batch:
        writer.see(grown.path, digest_of(grown.document.source))
    embed_missing(writer, embedder, (text for grown in batch for text in grown.leaves))
    return writer.write(batch, [FileRecord(path, path[1:], digest_of(path), ()) for path in files])


class FilledStore:
    """What the tests of reading share: a corpus of `DOCUMENTS`, written and opened once for each class."""

    @pytest.fixture(scope="class")
    @classmethod
    def address(cls, tmp_path_factory: pytest.TempPathFactory) -> str:
        """Return the address of a corpus that is not there yet; to be overridden."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, address: str) -> CorpusReader:
        """Return the corpus."""
        with open_writer(address) as writer:
            keep_facts(writer)
            take_in(writer, {f"/{document.source}": [document] for document in DOCUMENTS})
            writer.publish()
        return asyncio.run(open_corpus(address))


async def keys(store: CorpusReader, ids: Sequence[str], scope: Scope = EVERYTHING) -> list[str]:
    """Return the key of the document of each chunk that is in scope."""
    found = await store.chunks(ids, scope)
    return [found[chunk_id].doc_key for chunk_id in ids if chunk_id in found]


async def everything(store: CorpusReader) -> dict[str, Chunk]:
    """Return every chunk, by way of the leaves."""
    (ranked,) = await store.search("dense", ["water"], 10_000, EVERYTHING)
    found = await store.chunks(ranked["ids"], EVERYTHING)
    while parents := {chunk.parent_id for chunk in found.values() if chunk.parent_id} - set(found):
        found |= await store.chunks(sorted(parents), EVERYTHING)
    return found

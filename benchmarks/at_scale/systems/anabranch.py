"""Anabranch by its own public functions: `ingest`, `open_corpus`, `search`, `chunks`, and what the step `fuse` does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedder import Vectors
from anabranch.models.embedders import load_embedder
from anabranch.retrieval.fusion import fuse
from anabranch.retrieval.fusion.missing_scores import complete_lists
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.protocol import Arm, CorpusReader, Filters, RankedList, Scope
from anabranch.store.stores import open_corpus
from anabranch.types import Query, Retrieved
from benchmarks.at_scale.material import Material, Passage, limit
from benchmarks.at_scale.systems import K

BATCH = 1_000
ARMS: dict[str, Arm] = {"bm25": "bm25", "dense": "dense"}


class System:
    """Both arms at once, fused as the answer graph fuses them: complete lists, a weight chosen for each question."""

    arms = ("bm25", "dense", "hybrid", "hybrid and text")
    agrees = True

    def __init__(self, material: Material, folder: Path, settings: dict[str, Any]) -> None:
        """Keep what is measured."""
        self._material, self._folder, self._depth = material, folder, settings["depth"]
        self._store: CorpusReader

    def filtered(self, share: float) -> Sequence[str]:  # noqa: ARG002  # the protocol has it
        """Return the same arms for every filter."""
        return ("bm25", "dense", "hybrid")

    def prepare(self) -> None:
        """Load the embedder and use it once; embedding the question is not what is compared."""
        load_embedder("minilm").embed(["warm"])

    async def build(self) -> None:
        """Put the vectors where embedding would have put them, then ingest.

        Raises:
            RuntimeError: A leaf was cut in another way than when its vector was made.
        """
        self._folder.mkdir(parents=True)
        self._know(self._material.batches(BATCH))
        self._ingest(self._material.documents)

    def _know(self, batches: Iterable[tuple[list[Passage], Vectors]]) -> None:
        embedder = load_embedder("minilm").name
        with closing(CorpusDatabase(self._folder)) as database:
            for passages, vectors in batches:
                database.add_vectors([passage["key"] for passage in passages], vectors, embedder)

    def _ingest(self, file: Path) -> None:
        report = ingest([file], self._folder)
        if report.embedded or report.rows[0].status != "added":
            raise RuntimeError(f"{file.name}: {report.rows[0]!r}, {report.embedded} passages without a made vector")

    async def open(self) -> None:
        """Open the corpus."""
        self._store = await open_corpus(self._folder)

    async def search(self, arm: str, question: str, share: float | None = None) -> Any:  # noqa: ANN401
        """Search one arm, or both at once."""
        filters: Filters | None = {"bucket": {"lt": limit(share)}} if share else None
        scope = Scope(filters=filters)
        if arm in ARMS:
            return (await self._store.search(ARMS[arm], [question], K, scope))[0]["ids"]
        ids = (await self._hybrid(question, scope))["ids"][:K]
        return list(await self._store.chunks(ids, scope)) if arm == "hybrid and text" else ids

    async def _hybrid(self, question: str, scope: Scope) -> RankedList:
        found = await asyncio.gather(
            *(self._store.search(arm, [question], self._depth, scope) for arm in ARMS.values())
        )
        records = [Retrieved(retriever=arm, lists=lists, error=None) for arm, lists in zip(ARMS, found, strict=True)]
        queries = [Query(text=question, weight=1.0, kind="asked")]
        records, (weighed,) = await complete_lists(self._store, scope, queries, records)
        weights = [2 * (1 - weighed.alpha), 2 * weighed.alpha]
        return fuse(
            [[record["lists"][0] for record in records]],
            weights=[weights],
            method="complete",
        )

    async def add(self, number: int) -> bool:
        """Ingest a file of one document; `ready` has brought the vectors of its leaves."""
        file, word, passages, _ = self._material.added[number]
        await asyncio.to_thread(self._ingest, file)
        await self.open()
        by_word = await self._store.search("bm25", [word], 1, Scope())
        by_text = await self._store.search("dense", [passages[0]["text"]], 1, Scope())
        ids = [*by_word[0]["ids"], *by_text[0]["ids"]]
        found = await self._store.chunks(ids, Scope())
        return len(ids) == 2 and all(found[each].source.startswith(file.name) for each in ids)

    async def ready(self, number: int) -> None:
        """Put the vectors of the document to add where embedding would have put them."""
        _, _, passages, vectors = self._material.added[number]
        self._know([(passages, vectors)])

    async def save(self) -> None:
        """Do nothing: what is searchable here is on the disk."""

    async def rows(self, found: Sequence[Any]) -> list[list[int]]:
        """Look up where each leaf is from, and read the passages once for their rows."""
        ids = list({chunk_id for each in found for chunk_id in each})
        chunks = await self._store.chunks(ids, Scope())
        places = {(chunk.doc_key, chunk.start): chunk_id for chunk_id, chunk in chunks.items()}
        row_of = {}
        for row, passage in enumerate(self._material.passages()):
            chunk_id = places.get((passage["document"], passage["start"]))
            if chunk_id is not None:
                row_of[chunk_id] = row
        return [[row_of[chunk_id] for chunk_id in each] for each in found]

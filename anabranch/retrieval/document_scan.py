"""Looks through the passages of documents for words, slice by slice, within a bound in passages and in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.retrieval.result_size import RESERVED, TOKENS, count_tokens
from anabranch.retrieval.tool_result import FoundPassage, show_passage
from anabranch.retrieval.wildcards import Wildcards
from anabranch.store.protocol import Outline, Outlines, Scope
from anabranch.types import Chunk

PAGE = 100
"""Most items of a result."""

MOST_SCANNED = 5_000
"""Most passages that one `grep` looks through."""

SLICE = 250
"""Passages that are looked through at once, in a thread."""

SECONDS = 5.0
"""Time after which `grep` begins no further slice."""


@dataclass(slots=True)
class ScanPosition:
    """Where `grep` goes on: which document, and which of its leaves, counted from 0."""

    document: int
    leaf: int


async def scan(
    store: Outlines, scope: Scope, words: Wildcards, documents: Sequence[Outline], place: ScanPosition
) -> tuple[list[FoundPassage], ScanPosition]:
    """Return what was found from a place on, and where to go on."""
    found: list[FoundPassage] = []
    room, looked, began = TOKENS - RESERVED, 0, time.monotonic()
    while place.document < len(documents) and looked < MOST_SCANNED and len(found) < PAGE:
        # At least one slice, so that a caller comes to an end however slow the machine is.
        if looked and time.monotonic() - began > SECONDS:
            break
        rows, place = await _slice(store, scope, documents, place)
        chunks = await store.chunks([chunk_id for chunk_id, _ in rows], scope)
        matched = await asyncio.to_thread(_match, words, [(chunks[key], at) for key, at in rows if key in chunks])
        looked += len(rows)
        sizes = await asyncio.to_thread(count_tokens, store.embedder, [entry for entry, _ in matched])
        for (entry, at), size in zip(matched, sizes, strict=True):
            if found and (size > room or len(found) == PAGE):
                return found, at
            found.append(entry)
            room -= size
    return found, place


async def _slice(
    store: Outlines, scope: Scope, documents: Sequence[Outline], place: ScanPosition
) -> tuple[list[tuple[str, ScanPosition]], ScanPosition]:
    """Return the ids of the next leaves with their places, and where the following ones begin."""
    taken, count, end = [], 0, place.document
    while end < len(documents) and count < SLICE:
        count += documents[end].leaves - (place.leaf if end == place.document else 0)
        taken.append(documents[end].doc_id)
        end += 1
    leaves = await store.leaves(taken, scope, place.leaf + SLICE)
    rows: list[tuple[str, ScanPosition]] = []
    for number, doc_id in enumerate(taken, place.document):
        ids = leaves.get(doc_id, [])
        begin = place.leaf if number == place.document else 0
        stop = min(len(ids), begin + SLICE - len(rows))
        rows += [(ids[leaf], ScanPosition(number, leaf)) for leaf in range(begin, stop)]
        if len(rows) == SLICE:
            return rows, ScanPosition(number, stop)
    return rows, ScanPosition(end, 0)


def _match(words: Wildcards, rows: Sequence[tuple[Chunk, ScanPosition]]) -> list[tuple[FoundPassage, ScanPosition]]:
    matched = []
    for chunk, place in rows:
        quote = words.quote_in(chunk.text)
        if quote:
            entry = show_passage(chunk, place.leaf + 1)
            entry["text"], entry["is_whole"] = quote, quote == chunk.text.strip()
            matched.append((entry, place))
    return matched

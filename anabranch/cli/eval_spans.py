"""Searching for tables of spans: the same search for every configuration, then passages made in its own way."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.cli.search_view import Hit, hits_of
from anabranch.evaluation.passage_builders import Arm, passages_of
from anabranch.evaluation.runs import AT_ONCE, Found
from anabranch.evaluation.score_tables import Table
from anabranch.evaluation.spans import Span
from anabranch.readers.document import Chunk
from anabranch.store.chunk_ancestors import Ancestry, ancestry_of
from nodes.settings import Context
from nodes.support.dependencies import corpus_of, scope_of

AFTER_SEARCH = frozenset({"merge_threshold", "window_tokens"})
"""Settings that only change what passages are made of the leaves that were found."""


@dataclass(frozen=True, slots=True)
class _Searched:
    hits: list[Hit]
    degraded: tuple[str, ...]
    around: Ancestry


class SpanSearch:
    """Answers a query in a configuration with the places of its passages."""

    def __init__(self, contexts: Mapping[str, Context], arms: Mapping[str, Arm]) -> None:
        """Take the settings of each configuration, and how it makes passages where not as the product does."""
        self._contexts = contexts
        self._arms = arms
        self._keys = {name: _settings_of_search(context) for name, context in contexts.items()}
        self._most = 2 * AT_ONCE * len(set(self._keys.values()))
        self._searched: OrderedDict[tuple[str, str], _Searched] = OrderedDict()

    async def __call__(self, configuration: str, query: str) -> Found:
        """Return the passages, best first."""
        context, arm = self._contexts[configuration], self._arms.get(configuration, Arm())
        searched = await self._search(configuration, query)
        ranked = {chunk.chunk_id: item["score"] for item, chunk in searched.hits}
        ids = passages_of(arm, ranked, searched.around, threshold=context.merge_threshold, window=context.window_tokens)
        chunks = await self._chunks(ids, searched.around, context)
        found = [chunks[chunk_id] for chunk_id in ids if chunk_id in chunks]
        documents = tuple(dict.fromkeys(chunk.doc_key for chunk in found))
        spans = tuple(Span(chunk.doc_id, chunk.start, chunk.end) for chunk in found)
        return Found(documents, searched.degraded, spans)

    async def _search(self, configuration: str, query: str) -> _Searched:
        """Search once for all configurations that only differ afterwards; one query goes through them in a row."""
        key = (self._keys[configuration], query)
        if key not in self._searched:
            context = self._contexts[configuration]
            hits, state = await hits_of(query, context, None)
            corpus, scope = await corpus_of(context), scope_of(context, None)
            around = await ancestry_of(corpus, scope, {chunk.chunk_id: chunk for _, chunk in hits})
            degraded = tuple(f"{item['step']}: {item['reason']}" for item in state["degraded"])
            self._searched[key] = _Searched(hits, degraded, around)
            while len(self._searched) > self._most:
                self._searched.popitem(last=False)
        return self._searched[key]

    async def _chunks(self, ids: list[str], around: Ancestry, context: Context) -> dict[str, Chunk]:
        known = around.chunks
        corpus = await corpus_of(context)
        others = [chunk_id for chunk_id in ids if chunk_id not in known]
        fetched = await corpus.chunks(others, scope_of(context, None)) if others else {}
        return {**known, **fetched}


def passages_shown(table: Table, configuration: str) -> str:
    """Return how a configuration makes passages, if not as the product does, to be put after its settings."""
    arm = table.passages.get(configuration, Arm())
    given = ", ".join(f"{name}={value}" for name, value in arm.model_dump(exclude_defaults=True).items())
    return f"; passages: {given}" if given else ""


def _settings_of_search(context: Context) -> str:
    values = context.model_dump(mode="json", exclude=set(AFTER_SEARCH))
    return json.dumps(values, sort_keys=True)

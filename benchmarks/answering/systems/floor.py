"""The least that a program can do: hand-written asyncio over httpx, with the same search, fusion, words and calls.

It keeps nothing, checks nothing and survives nothing. What it takes beyond the model's time is what searching and HTTP
take.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from anabranch.agent.prompts import CITE, CREATE, GUARD, REDUCE, RERANK, REWRITE
from anabranch.readers.document import Chunk
from anabranch.retrieval.fusion import fuse
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.store.protocol import CorpusReader, Scope
from anabranch.store.stores import open_corpus
from benchmarks.answering.material import Asked
from benchmarks.answering.rows import DEPTH, Row
from benchmarks.answering.systems import Answer, Ask, Plain
from benchmarks.answering.systems.anabranch import CORPUS

BATCH = 5
_LINE = re.compile(r"Doc: (\d+), Relevance: (\d+)")


class System(Plain):
    """One function per pipeline."""

    def __init__(self, asked: Asked, folder: Path, base_url: str) -> None:
        """Keep what is needed; the corpus is the one that Anabranch has made."""
        self._asked, self._folder, self._base_url = asked, folder, base_url
        self._client: httpx.AsyncClient
        self._corpus: CorpusReader

    async def build(self) -> None:
        """Open a connection pool and the corpus."""
        self._client = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None))
        self._corpus = await open_corpus(self._folder / CORPUS)

    async def ready(self, row: Row, saver: str) -> Ask:  # noqa: ARG002  # the protocol has it
        """Take the settings of a row."""
        return partial(self._ask, row.settings)

    async def know(self, questions: Sequence[str]) -> None:
        """Search each query once, as for Anabranch."""
        queries = [query for question in questions for query in self._asked.by_question[question]]
        await self._corpus.search("dense", queries, 1, Scope())

    async def _ask(self, settings: dict[str, Any], question: str) -> Answer:
        """Search, rerank if asked to, and write."""
        passages = await self._search(question, settings.get("rerank") or settings["passages"])
        if settings.get("rerank"):
            passages = (await self._judged(question, passages))[: settings["passages"]]
        windows = _windows(settings, passages)
        if len(windows) == 1:
            return await self._live(windows[0], question, CREATE)
        ask = f"{CITE}\n{CREATE}"
        calls = (self._call(GUARD, f"{window}\n\nQuestion: {question}\n\n{ask}") for window in windows)
        answers = [(number, "", part) for number, part in enumerate(await asyncio.gather(*calls), start=1)]
        return await self._live(wrap(answers, new_nonce()), question, REDUCE)

    async def _search(self, question: str, count: int) -> list[Chunk]:
        asked = f"Number of lines: 3\nQuestion: {question}"
        queries = [question, *(await self._call(REWRITE["multi"], asked)).splitlines()]
        both = await asyncio.gather(*(self._corpus.search(arm, queries, DEPTH, Scope()) for arm in ("bm25", "dense")))
        ids = fuse([list(lists) for lists in zip(*both, strict=True)], method="rrf")["ids"][:count]
        found = await self._corpus.chunks(ids, Scope())
        return [found[chunk_id] for chunk_id in ids]

    async def _judged(self, question: str, passages: Sequence[Chunk]) -> list[Chunk]:
        starts = range(0, len(passages), BATCH)
        batches = [
            wrap([(n, "", c.text) for n, c in enumerate(passages[s : s + BATCH], start=1)], new_nonce()) for s in starts
        ]
        replies = await asyncio.gather(*(self._call(RERANK, f"{batch}\n\nQuestion: {question}") for batch in batches))
        judged = [
            (-int(relevance), start + int(number) - 1)
            for start, reply in zip(starts, replies, strict=True)
            for number, relevance in _LINE.findall(reply)
        ]
        return [passages[place] for _, place in sorted(judged)]

    async def _call(self, system: str, user: str) -> str:
        reply = await self._client.post(f"{self._base_url}/chat/completions", json=self._body(system, user))
        text: str = reply.json()["choices"][0]["message"]["content"]
        return text

    async def _live(self, passages: str, question: str, ask: str) -> Answer:
        body = {**self._body(GUARD, f"{passages}\n\nQuestion: {question}\n\n{ask}"), "stream": True}
        first, text = None, []
        async with self._client.stream("POST", f"{self._base_url}/chat/completions", json=body) as reply:
            async for line in reply.aiter_lines():
                if line.startswith("data: {"):
                    delta = json.loads(line[6:])["choices"][0]["delta"].get("content")
                    first = first or (time.monotonic() if delta else None)
                    text.append(delta or "")
        return Answer("".join(text), first)

    def _body(self, system: str, user: str) -> dict[str, Any]:
        return {"model": "stub", "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}]}


def _windows(settings: dict[str, Any], passages: Sequence[Chunk]) -> list[str]:
    """Return one text for all passages, one for each to be refined, or as many as a tree needs."""
    budget = {"compact": 10**6, "refine": 1, "tree": settings.get("window", 0)}[settings["synthesis"]]
    windows: list[list[tuple[int, str, str]]] = []
    room = 0
    for number, passage in enumerate(passages, start=1):
        if passage.tokens > room:
            windows.append([])
            room = budget
        windows[-1].append((number, passage.title, passage.text))
        room -= passage.tokens
    return [wrap(window, new_nonce()) for window in windows]

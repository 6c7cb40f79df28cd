"""Shows the best passages while a slow model has not begun its reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import chain, zip_longest
from typing import Any, cast

from anabranch.agent.nodes.turn import Turn
from anabranch.errors import AnabranchError
from anabranch.models.usage import note_failure
from anabranch.retrieval import CORPUS_RETRIEVERS
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for
from anabranch.types import Arm

# Seconds without a word of the model after which the reader sees the passages.
WAIT_SECONDS = 20.0
# Leaves that are read: twice as many as are shown, because long ones are skipped.
READ = 6


@asynccontextmanager
async def awaiting_model(step: str, turn: Turn, state: Mapping[str, Any]) -> AsyncIterator[Callable[[], object]]:
    """Put the best passages into the `custom` stream if the model has not begun after `WAIT_SECONDS`.

    Yields a function to call when the model begins: after it, the passages are not shown any more.
    """

    async def show() -> None:
        await asyncio.sleep(WAIT_SECONDS)
        if text := await _write_found(turn, state):
            turn.show(step=step, status="waiting", answer=text)

    task = asyncio.create_task(show())
    try:
        yield task.cancel
    finally:
        task.cancel()
        (failure,) = await asyncio.gather(task, return_exceptions=True)
        if isinstance(failure, AnabranchError):
            note_failure(f"the passages could not be shown while the model was awaited: {failure}")
        elif isinstance(failure, Exception):
            raise failure


async def _write_found(turn: Turn, state: Mapping[str, Any]) -> str:
    """Return the best passages as Markdown; empty if there are none."""
    from anabranch.extracts.best_passages import best_passages
    from anabranch.extracts.passage_answer import place_line, write_answer

    ids = _best_ids(state) or await _search(turn, state)
    found = await turn.chunks(ids[:READ])
    leaves = [found[chunk_id] for chunk_id in ids[:READ] if chunk_id in found]
    passages = await asyncio.to_thread(best_passages, leaves)
    words = phrases_for(state["turn"]["question"], language_of(" ".join(each.text for each in passages)))
    firsts = [each.spans[0].chunk for each in passages]
    places = [place_line(chunk.source, chunk.page, chunk.heading) for chunk in firsts]
    shown = list(zip(places, passages, strict=True))
    return await asyncio.to_thread(write_answer, words["meanwhile"], shown) if shown else ""


def _best_ids(state: Mapping[str, Any]) -> list[str]:
    """Return the ids of the passages found so far, best first; in a branch, those of its window."""
    if "excerpts" in state:
        return list(dict.fromkeys(excerpt["id"] for excerpt in state["excerpts"]))
    ids = [candidate["id"] for candidate in state.get("candidates") or []]
    kept = {leaf for passage in state.get("passages") or [] for leaf in passage["leaves"]}
    return [chunk_id for chunk_id in ids if chunk_id in kept] if kept else ids


async def _search(turn: Turn, state: Mapping[str, Any]) -> list[str]:
    """Search for the question alone, in steps that ask the model before the search."""
    arms: list[Arm] = [cast("Arm", each) for each in CORPUS_RETRIEVERS if each in turn.settings.retrievers]
    if not arms:
        return []
    corpus, question = await turn.corpus(), [state["turn"]["standalone_question"]]
    lists = [(await corpus.search(arm, question, READ, turn.scope))[0]["ids"] for arm in arms]
    return list(dict.fromkeys(each for each in chain.from_iterable(zip_longest(*lists)) if each is not None))

"""The LLM-only retriever: the chat model reads a small corpus whole and chooses the passages that help.

Without summaries it reads every passage, batch by batch. Where documents have a summary (the field `summary` of their
metadata) it first chooses documents by summary, and then reads only their passages, the best document first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from anabranch.errors import SettingsError
from anabranch.models.usage import note_failure
from anabranch.parsing.relevance_scores import Judgements, on_ten
from anabranch.readers.document import Chunk
from anabranch.store.protocol import CorpusReader, Outline, Outlines, RankedList, Scope
from anabranch.store.records import embedded_text

# Asks the model about batches of texts at the same time, see `rerank_calls.judge_all`.
Ask = Callable[[Sequence[Sequence[str]]], Awaitable[Sequence[Judgements | None]]]


# Texts in one call.
BATCH = 20
# Calls in one search, so that a corpus of thousands of passages is refused instead of read at its owner's cost.
MOST_CALLS = 20


class Reach(NamedTuple):
    """How far the retriever may go: texts in one call, calls in all, and passages in its list."""

    batch: int
    calls: int
    depth: int


async def read_all(corpus: CorpusReader, scope: Scope, ask: Ask, reach: Reach) -> RankedList:
    """Return the passages that the model says help, by relevance in (0, 10], equal relevance in document order.

    Raises:
        SettingsError: The scope holds more than `reach` allows, or the store does not list its documents; no call was
            made.
        ModelError: Every call failed, or no reply could be read.
    """
    if not isinstance(corpus, Outlines):
        msg = "The retriever 'llm' reads a corpus document by document, and its store does not list them."
        raise SettingsError(msg, hint="Remove it from `retrievers`.")
    # Ask for one more than may be read, which shows whether there are more.
    most = reach.batch * reach.calls
    documents = [one for one in await corpus.outlines(scope, most + 1) if one.leaves]
    passages = sum(one.leaves for one in documents)
    # A corpus that fits one call is read whole: choosing documents would cost a call and save none.
    if passages > reach.batch and any(one.summary for one in documents):
        used = -(-len(documents) // reach.batch)
        if used >= reach.calls:
            raise _too_large(f"{len(documents):,} documents or more", reach)
        documents = await _choose(corpus, scope, documents, ask, reach.batch)
        most = reach.batch * (reach.calls - used)
        if sum(one.leaves for one in documents) > most:
            note_failure(f"it read only the first {most:,} passages of the documents it chose")
    elif passages > most:
        raise _too_large(f"{passages:,} passages or more", reach)
    chunks = await _passages(corpus, scope, documents, most)
    texts = [embedded_text(chunk.title, chunk.heading, chunk.text) for chunk in chunks]
    scores = await _scores(texts, ask, reach.batch)
    places = sorted(scores, key=lambda place: (-scores[place], place))[: reach.depth]
    return RankedList(ids=[chunks[place].chunk_id for place in places], scores=[scores[place] for place in places])


async def _choose(corpus: Outlines, scope: Scope, documents: Sequence[Outline], ask: Ask, batch: int) -> list[Outline]:
    """Return the documents that help, best first, by their summary, or by the first passage of one without."""
    bare = [one.doc_id for one in documents if not one.summary]
    firsts = {doc_id: ids[0] for doc_id, ids in (await corpus.leaves(bare, scope, 1)).items()}
    found = await corpus.chunks(list(firsts.values()), scope)
    texts = [
        f"{one.title}\n{one.summary or (found[firsts[one.doc_id]].text if firsts.get(one.doc_id) in found else '')}"
        for one in documents
    ]
    scores = await _scores(texts, ask, batch)
    return [documents[place] for place in sorted(scores, key=lambda place: (-scores[place], place))]


async def _passages(corpus: Outlines, scope: Scope, documents: Sequence[Outline], most: int) -> list[Chunk]:
    # The best document first, so that the bound cuts off the last ones.
    by_document = await corpus.leaves([one.doc_id for one in documents], scope, most)
    ids = [leaf for one in documents for leaf in by_document.get(one.doc_id, [])][:most]
    found = await corpus.chunks(ids, scope)
    return [found[chunk_id] for chunk_id in ids if chunk_id in found]


async def _scores(texts: Sequence[str], ask: Ask, batch: int) -> dict[int, float]:
    """Return the relevance of each text that helps, by index."""
    starts = range(0, len(texts), batch)
    replies = await ask([texts[start : start + batch] for start in starts]) if texts else []
    return {
        start + place: score
        for start, reply in zip(starts, replies, strict=True)
        if reply is not None
        for place, score in on_ten(reply.scores).items()
        if score > 0
    }


def _too_large(size: str, reach: Reach) -> SettingsError:
    most = reach.batch * reach.calls
    return SettingsError(
        f"The retriever 'llm' reads at most {most:,} texts for a question ({reach.calls} calls of {reach.batch}), "
        f"and the scope has {size}.",
        hint="Narrow it with filters, give the documents a `summary`, or use bm25 and dense.",
    )

"""One retriever, all queries in one batch: one branch of the fan-out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import cast

from langchain_core.retrievers import BaseRetriever
from langgraph.runtime import Runtime

from anabranch.allowance import at_most
from anabranch.corpus.query_vectors import embedding_anew
from anabranch.corpus.store import Arm, RankedList
from anabranch.errors import SettingsError, UserError
from anabranch.guests import guest_lists
from anabranch.llm_retrieval import Reach, read_all
from anabranch.models.rerankers.llm.asking import judge_all, reply_tokens, user_text
from anabranch.relevance import Judgements, read_judgements
from graph.context import Context, settle
from graph.state import Retrieved, RetrieveTask
from nodes.resources import corpus_of, model_of, scope_of
from nodes.spending import as_spending, spent_on
from nodes.traced import Update, traced

ARMS = ("bm25", "dense")
READER = "llm"


@traced("retrieve")
async def retrieve(
    state: RetrieveTask, runtime: Runtime[Context], *, guests: Mapping[str, BaseRetriever] | None = None
) -> Update:
    """Search with one retriever; a branch that fails returns an error record, so that the others go on.

    What the user configured wrongly is raised: an unknown retriever, a malformed filter, a missing key.
    """
    context = settle(state["settings"], runtime)
    arm, texts = state["arm"], state["texts"]
    brought: dict[str, dict[str, object]] = {}
    try:
        if arm in ARMS:
            corpus, scope = await corpus_of(context), scope_of(context, state["narrowed"])
            with embedding_anew(not context.cache_vectors):
                lists = await corpus.search(cast("Arm", arm), texts, context.depth, scope)
        elif arm == READER and arm not in (guests or {}):
            lists = await _read(context, state)
        else:
            lists, brought = await guest_lists(_guest(arm, guests or {}), arm, texts, context.depth)
        record = Retrieved(arm=arm, lists=lists, error=None)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001  # one branch must not end the fan-out, whatever its retriever raises
        record = Retrieved(arm=arm, lists=[], error=f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    return {
        "retrieved": [record],
        "guests": brought,
        "counts": {"arm": arm, "lists": [_length(x) for x in record["lists"]]},
    }


async def _read(context: Context, state: RetrieveTask) -> list[RankedList]:
    """Have the chat model read the corpus for the question, which stands first; what helps it stands for every query.

    Asking again for each way of searching for the same thing would multiply the calls and say nothing new.
    """
    chat = await model_of(context)
    if chat is None:
        msg = f"The retriever {READER!r} needs a chat model, and none is configured."
        raise SettingsError(msg, hint="Set `model`, or leave it out of `retrievers`.")
    question, gate = state["texts"][0], asyncio.Semaphore(context.max_concurrency)
    corpus = await corpus_of(context)
    left = as_spending(state.get("left"))

    async def ask(batches: Sequence[Sequence[str]]) -> Sequence[Judgements | None]:
        nonlocal left
        sent = [f"{context.retrieve_prompt}\n{user_text(question, batch)}" for batch in batches]
        read = await asyncio.to_thread(corpus.embedder.count, sent)
        tokens = sum(at_most(text, count) for text, count in zip(sent, read, strict=True))
        replies = sum(reply_tokens(len(batch)) for batch in batches)
        left = spent_on(context, left, calls=len(batches), tokens=tokens + replies)
        return await judge_all(chat, context.retrieve_prompt, question, batches, read_judgements, gate)

    reach = Reach(batch=context.retrieve_batch, calls=context.retrieve_calls, depth=context.depth)
    ranked = await read_all(corpus, scope_of(context, state["narrowed"]), ask, reach)
    return [RankedList(ids=list(ranked["ids"]), scores=list(ranked["scores"])) for _ in state["texts"]]


def _guest(arm: str, guests: Mapping[str, BaseRetriever]) -> BaseRetriever:
    if arm not in guests:
        known = ", ".join([*ARMS, READER, *guests])
        msg = f"There is no retriever {arm!r}; known here: {known}."
        raise SettingsError(msg, hint="Give it to build(retrievers={...}), or leave it out of `retrievers`.")
    return guests[arm]


def _length(ranked: RankedList) -> int:
    return len(ranked["ids"])

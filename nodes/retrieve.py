"""One retriever, all queries in one batch: one branch of the fan-out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from langchain_core.retrievers import BaseRetriever

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import RetrieveTask
from anabranch.agent.nodes.support.audit_events import note
from anabranch.agent.nodes.support.dependencies import corpus_of, max_concurrency, model_of, scope_of
from anabranch.agent.nodes.support.fusion_weights import BUILT_IN_RETRIEVERS, CORPUS_RETRIEVERS, READER
from anabranch.agent.nodes.support.graph_bindings import bindings_in_force
from anabranch.agent.nodes.support.state_records import Degraded, Retrieved
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.agent.nodes.support.turn_budget import as_spending, spent_on
from anabranch.errors import SettingsError, UserError
from anabranch.models.embedder import unread_script
from anabranch.models.rerankers.rerank_calls import judge_all, reply_tokens, user_text
from anabranch.parsing.relevance_scores import Judgements
from anabranch.retrieval import RETRIEVERS
from anabranch.retrieval.fusion.score_normalization import sound
from anabranch.retrieval.langchain_retriever import external_lists, installed_retriever
from anabranch.retrieval.llm_retriever import BATCH, MOST_CALLS, Reach, read_all
from anabranch.safety.key_redaction import redacted
from anabranch.store.protocol import Arm, Outlines, RankedList
from anabranch.synthesis.token_bound import at_most


@traced("retrieve")
async def retrieve(state: RetrieveTask, context: Context) -> Update:
    """Search with one retriever; a branch that fails returns an error record, so that the others go on.

    What the user configured wrongly is raised: an unknown retriever, a malformed filter, a missing key.
    """
    retriever, texts = state["retriever"], state["query_texts"]
    brought: dict[str, dict[str, object]] = {}
    reasons: list[str] = []
    try:
        if retriever in CORPUS_RETRIEVERS:
            lists, reasons = await _searched(context, state)
        elif retriever == READER:
            lists = await _read(context, state)
        else:
            count = (await corpus_of(context)).embedder.count
            # In a thread: the package of an installed one is imported here.
            named = await asyncio.to_thread(_named, retriever)
            lists, brought, failed = await external_lists(named, retriever, texts, context.depth, count)
            reasons = [_said(error) for error in failed]
        record = Retrieved(retriever=retriever, lists=lists, error=None)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001  # one branch must not end the fan-out, whatever its retriever raises
        record = Retrieved(retriever=retriever, lists=[], error=_said(error))
    return {
        "ranked_lists": [record],
        "external_passages": brought,
        "degraded": [Degraded(step=f"retrieve:{retriever}", reason=reason) for reason in reasons],
        "counts": {"retriever": retriever, "lists": [len(found["ids"]) for found in record["lists"]]},
    }


async def _searched(context: Context, state: RetrieveTask) -> tuple[list[RankedList], list[str]]:
    """Search with a retriever of the corpus; say which scripts its embedder cannot read.

    Such a query is searched for only by BM25: its nearest vectors are arbitrary, and would be taken for evidence.
    If BM25 is not among the retrievers, the vectors are used nevertheless.
    """
    corpus, scope = await corpus_of(context), scope_of(context, state["active_filters"])
    retriever, texts = state["retriever"], state["query_texts"]
    unread = [""] * len(texts)
    if retriever == "dense":
        unread = await asyncio.to_thread(lambda: [unread_script(corpus.embedder, text) for text in texts])
    # Where nothing searches by words, near for no reason is better than nothing; and it is said.
    is_alone = "bm25" not in context.retrievers
    asked = [text for text, script in zip(texts, unread, strict=True) if is_alone or not script]
    found = iter(await corpus.search(cast("Arm", retriever), asked, context.depth, scope))
    lists = [sound(next(found)) if is_alone or not script else RankedList(ids=[], scores=[]) for script in unread]
    instead = "add bm25 to `retrievers`" if is_alone else "searched by words alone"
    # Once for each script, however many queries there are.
    named = dict.fromkeys(script for script in unread if script)
    return lists, [f"the embedder {corpus.embedder.name} does not read {script} letters: {instead}" for script in named]


async def _read(context: Context, state: RetrieveTask) -> list[RankedList]:
    """Have the chat model read the corpus for the question, the first query; its list is used for every query.

    Reading again for each further query would multiply the calls and add nothing.
    """
    chat = await model_of(context)
    if chat is None:
        msg = f"The retriever {READER!r} needs a chat model, and none is configured."
        raise SettingsError(msg, hint="Set `model`, or leave it out of `retrievers`.")
    question, gate = state["query_texts"][0], asyncio.Semaphore(max_concurrency())
    corpus, scope = await corpus_of(context), scope_of(context, state["active_filters"])
    left = as_spending(state.get("budget"))

    async def ask(batches: Sequence[Sequence[str]]) -> Sequence[Judgements | None]:
        # Reckoned before the calls: a corpus that grew must not take what the answer needs.
        nonlocal left
        sent = [f"{context.retrieve_prompt}\n{user_text(question, batch)}" for batch in batches]
        read = await asyncio.to_thread(corpus.embedder.count, sent)
        tokens = sum(at_most(text, count) for text, count in zip(sent, read, strict=True))
        replies = sum(reply_tokens(len(batch)) for batch in batches)
        left = spent_on(context, left, calls=len(batches), tokens=tokens + replies)
        return await judge_all(chat, context.retrieve_prompt, question, batches, gate)

    outlines = await corpus.outlines(scope, BATCH * MOST_CALLS) if isinstance(corpus, Outlines) else []
    await note("read", context, step="retrieve", documents=[{"id": each.doc_id} for each in outlines])
    reach = Reach(batch=BATCH, calls=MOST_CALLS, depth=context.depth)
    ranked = await read_all(corpus, scope, ask, reach)
    return [RankedList(ids=list(ranked["ids"]), scores=list(ranked["scores"])) for _ in state["query_texts"]]


def _named(name: str) -> BaseRetriever:
    """Return a retriever by its name: what was given to the graph comes before what is installed."""
    refuse_unknown([name])
    given = bindings_in_force.get().retrievers.get(name)
    return given if given is not None else installed_retriever(name)


def refuse_unknown(names: Sequence[str]) -> None:
    """Refuse settings that name a retriever which is neither built in, nor given to the graph, nor installed.

    Raises:
        SettingsError: There is none of that name.
    """
    # What is given to the graph comes before what is installed under the same name.
    known: list[str] = [*BUILT_IN_RETRIEVERS, *bindings_in_force.get().retrievers]
    known += [name for name in RETRIEVERS.names if name not in known]
    for name in names:
        if name not in known:
            msg = f"There is no retriever {name!r}; known here: {', '.join(known)}."
            ways = "Give it to build(retrievers={...}), install the package that adds it"
            raise SettingsError(msg, hint=f"{ways}, or leave it out of `retrievers`.")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {redacted(' '.join(str(error).split()))[:300]}"

"""One retriever, all queries in one batch: one branch of the fan-out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, cast

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one, and a server shows no input form.
from typing_extensions import TypedDict

from anabranch.agent.nodes.state import Update
from anabranch.agent.nodes.turn import Turn
from anabranch.errors import SettingsError, UserError
from anabranch.retrieval import BUILT_IN_RETRIEVERS, CORPUS_RETRIEVERS, READER, RETRIEVERS
from anabranch.retrieval.fusion.score_normalization import repair_list
from anabranch.safety.key_redaction import redacted
from anabranch.store.protocol import Outlines
from anabranch.synthesis.token_bound import bound_tokens
from anabranch.types import Arm, Left, RankedList, Retrieved, Text, TurnRecord

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

    from anabranch.parsing.relevance_scores import Judgements


class RetrieveTask(TypedDict):
    """Input of one retrieval branch; it has a `budget` only if its retriever asks the chat model."""

    turn: TurnRecord
    retriever: str
    query_texts: list[Text]
    budget: NotRequired[Left]


async def retrieve(state: RetrieveTask, turn: Turn) -> Update:
    """Search with one retriever; a branch that fails returns an error record, so that the others continue.

    Mistakes in the configuration are raised: an unknown retriever, a malformed filter, a missing key.
    """
    retriever = state["retriever"]
    external: dict[str, dict[str, Any]] = {}
    # One list for each query, also from a retriever that reads the corpus once for all of them.
    progress = {"step": "retrieve", "retriever": retriever, "lists": len(state["query_texts"])}
    turn.show(status="searching", **progress)
    try:
        if retriever in CORPUS_RETRIEVERS:
            lists = await _search(state, turn)
        elif retriever == READER:
            lists = await _read(state, turn)
        else:
            lists, external = await _ask_external(state, turn)
        record = Retrieved(retriever=retriever, lists=lists, error=None)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001  # one branch must not end the fan-out, whatever its retriever raises
        record = Retrieved(retriever=retriever, lists=[], error=_describe(error))
    turn.show(status="searched", **progress)
    turn.count(retriever=retriever, lists=[len(found["ids"]) for found in record["lists"]])
    return {"ranked_lists": [record], "external_passages": external}


async def _search(state: RetrieveTask, turn: Turn) -> list[RankedList]:
    """Search with a retriever of the corpus; report scripts that its embedder cannot read.

    Queries in such a script are searched for only by BM25, because their nearest vectors are arbitrary. If BM25 is not
    among the retrievers, the vectors are used nevertheless.
    """
    corpus, retriever, texts = await turn.corpus(), state["retriever"], state["query_texts"]
    unread = [""] * len(texts)
    if retriever == "dense":
        from anabranch.models.embedder import unread_script

        unread = await asyncio.to_thread(lambda: [unread_script(corpus.embedder, text) for text in texts])
    is_alone = "bm25" not in turn.settings.retrievers
    asked = [text for text, script in zip(texts, unread, strict=True) if is_alone or not script]
    found = iter(await corpus.search(cast("Arm", retriever), asked, turn.settings.depth, turn.scope))
    lists = [repair_list(next(found)) if is_alone or not script else RankedList(ids=[], scores=[]) for script in unread]
    instead = "add bm25 to `retrievers`" if is_alone else "searched by words alone"
    # Reported once for each script.
    for script in dict.fromkeys(script for script in unread if script):
        reason = f"the embedder {corpus.embedder.name} does not read {script} letters: {instead}"
        turn.degraded(f"retrieve:{retriever}", reason)
    return lists


async def _read(state: RetrieveTask, turn: Turn) -> list[RankedList]:
    """Let the chat model read the corpus for the question, the first query; its list is used for every query."""
    from anabranch.models.rerankers.rerank_calls import judge_all, reply_tokens, user_text
    from anabranch.retrieval.llm_retriever import BATCH, MOST_CALLS, Reach, read_all

    chat = await turn.chat()
    if chat is None:
        msg = f"The retriever {READER!r} needs a chat model, and none is configured."
        raise SettingsError(msg, hint="Set `model`, or leave it out of `retrievers`.")
    question, gate = state["query_texts"][0], asyncio.Semaphore(turn.concurrency)
    corpus, prompt = await turn.corpus(), turn.settings.retrieve_prompt

    async def ask(batches: Sequence[Sequence[str]]) -> Sequence[Judgements | None]:
        # Counted before the calls, so that a large corpus leaves enough for the answer.
        sent = [f"{prompt}\n{user_text(question, batch)}" for batch in batches]
        read = await asyncio.to_thread(corpus.embedder.count, sent)
        tokens = sum(bound_tokens(text, count) for text, count in zip(sent, read, strict=True))
        replies = sum(reply_tokens(len(batch)) for batch in batches)
        turn.budget.take(calls=len(batches), tokens=tokens + replies)
        return await judge_all(chat, prompt, question, batches, gate)

    outlines = await corpus.outlines(turn.scope, BATCH * MOST_CALLS) if isinstance(corpus, Outlines) else []
    await turn.audit("read", step="retrieve", documents=[{"id": each.doc_id} for each in outlines])
    reach = Reach(batch=BATCH, calls=MOST_CALLS, depth=turn.settings.depth)
    ranked = await read_all(corpus, turn.scope, ask, reach)
    return [RankedList(ids=list(ranked["ids"]), scores=list(ranked["scores"])) for _ in state["query_texts"]]


async def _ask_external(state: RetrieveTask, turn: Turn) -> tuple[list[RankedList], dict[str, dict[str, Any]]]:
    """Ask a LangChain retriever; return its lists, and their passages, which are in no corpus."""
    from anabranch.retrieval.langchain_retriever import external_lists

    name = state["retriever"]
    count = (await turn.corpus()).embedder.count
    # In a thread, because this may import a package.
    retriever = await asyncio.to_thread(_find_retriever, name, turn.retrievers)
    lists, passages, failed = await external_lists(retriever, name, state["query_texts"], turn.settings.depth, count)
    for error in failed:
        turn.degraded(f"retrieve:{name}", _describe(error))
    return lists, passages


def _find_retriever(name: str, given: Mapping[str, BaseRetriever]) -> BaseRetriever:
    """Return a retriever by name, given to the graph or installed."""
    from anabranch.retrieval.langchain_retriever import installed_retriever

    refuse_unknown([name], given)
    return given[name] if name in given else installed_retriever(name)


def refuse_unknown(names: Sequence[str], given: Mapping[str, BaseRetriever]) -> None:
    """Refuse settings that name a retriever which is neither built in, nor given to the graph, nor installed.

    Raises:
        SettingsError: There is none of that name.
    """
    # Retrievers given to the graph take precedence over installed ones of the same name.
    known: list[str] = [*BUILT_IN_RETRIEVERS, *given]
    known += [name for name in RETRIEVERS.names if name not in known]
    for name in names:
        if name not in known:
            msg = f"There is no retriever {name!r}; known here: {', '.join(known)}."
            ways = "Give it to build(retrievers={...}), install the package that adds it"
            raise SettingsError(msg, hint=f"{ways}, or leave it out of `retrievers`.")


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {redacted(' '.join(str(error).split()))[:300]}"

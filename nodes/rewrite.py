"""Make further search queries: by a model, or from the corpus itself where there is none."""

from __future__ import annotations

from langgraph.runtime import Runtime

from anabranch.corpus.store import CorpusStore, Scope
from anabranch.errors import ModelError
from anabranch.expansion import expansion_terms
from anabranch.models.chat import Chat
from anabranch.queries import parse_queries
from graph.context import Context, settle
from graph.state import Degraded, Query, State
from nodes.resources import corpus_of, model_of, scope_of
from nodes.traced import Update, traced
from prompts import REWRITE

# The question itself must weigh at least as much as all that was derived from it: rewrites add recall and noise
# (2603.13301, 2603.02153), and fusion must not let them outvote the user's own words.
DERIVED_WEIGHT = 0.5
EXPANSION_WEIGHT = 0.25
FEEDBACK_PASSAGES = 5
FEEDBACK_TERMS = 6


@traced("rewrite")
async def rewrite(state: State, runtime: Runtime[Context]) -> Update:
    """Add up to `n_queries` - 1 queries to the question; what fails leaves the question, which is always searched."""
    context = settle(state.get("settings"), runtime)
    kept = [query for query in state["queries"] if query["kind"] in ("asked", "condensed")]
    room = context.n_queries - len(kept)
    again = state["round"] > 0
    texts: list[str] = []
    degraded: list[Degraded] = []
    kind: str = context.strategy
    if room > 0 and (context.strategy != "none" or again):
        chat = await model_of(context)
        if chat is not None:
            try:
                texts = await _ask(chat, context, state, room)
            except ModelError as error:
                degraded.append(Degraded(step="rewrite", reason=error.message))
        if not texts:
            corpus, scope = await corpus_of(context), scope_of(context, state.get("narrowed"))
            texts, kind = await _expand(corpus, scope, state["standalone"], wide=again), "expansion"
    weight = EXPANSION_WEIGHT if kind == "expansion" else DERIVED_WEIGHT
    derived = [Query(text=text, weight=weight / len(texts), kind=kind) for text in texts]
    return {
        "queries": [*kept, *derived],
        "round": state["round"] + 1,
        "degraded": degraded,
        "counts": {"queries": len(kept) + len(derived), "kind": kind},
    }


async def _ask(chat: Chat, context: Context, state: State, room: int) -> list[str]:
    strategy = "multi" if context.strategy == "none" else context.strategy
    system = context.rewrite_prompt or REWRITE[strategy]
    lines = [f"Number of lines: {room}", f"Question: {state['standalone']}"]
    missing = state["evidence"]["missing"] if state["round"] > 0 else ""
    if missing:
        tried = "; ".join(query["text"] for query in state["queries"])
        lines += [f"Already searched: {tried}", f"What was not found: {missing}"]
    reply = await chat.ask(system, "\n".join(lines), max_tokens=60 * room + 100)
    return parse_queries(reply, limit=room, original=state["standalone"])


async def _expand(corpus: CorpusStore, scope: Scope, question: str, *, wide: bool) -> list[str]:
    """Return the question with the telling words of its first hits (pseudo-relevance feedback), or nothing."""
    size = 2 if wide else 1
    (hits,) = await corpus.search("bm25", [question], FEEDBACK_PASSAGES * size, scope)
    found = await corpus.chunks(hits["ids"], scope)
    texts = [found[chunk_id].text for chunk_id in hits["ids"] if chunk_id in found]
    terms = await expansion_terms(corpus, question, texts, limit=FEEDBACK_TERMS * size)
    return [f"{question} {' '.join(terms)}"] if terms else []

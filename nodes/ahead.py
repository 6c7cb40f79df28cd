"""When an answer is drafted ahead of the evidence, and how the step that drafts hears of the further queries."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from langgraph.runtime import Runtime

from anabranch.spending import Spending
from graph.context import Context
from graph.state import Draft, Query, Speculation, State
from nodes.spending import left_of
from nodes.weighing import ARMS
from prompts import REWRITE

SHARE = 0.1
"""A draft may be thrown away: it may take no more than this of what a question may still cost."""

_further: WeakValueDictionary[tuple[str, int], asyncio.Future[list[Query]]] = WeakValueDictionary()


def no_draft(why: str) -> Speculation:
    """Return what stands where there is no draft, with the reason."""
    return Speculation(
        draft=Draft(answer="", quotes={}, window=0, keeps=0, found=False, missing=""), excerpts=[], why=why
    )


def may_draft(context: Context, state: State) -> bool:
    """Tell whether to draft an answer from what the question alone finds, while a model writes further queries.

    Not where a person has a say in the evidence, nor where to look twice for it would cost calls: retrievers that are
    not the corpus's own, and rerankers that are asked every time.
    """
    if context.speculate == "off" or context.model is None or context.review != "none":
        return False
    if not set(context.retrievers) <= ARMS or context.rerank not in ("none", "llm"):
        return False
    if context.strategy not in REWRITE or context.n_queries <= len(state["queries"]):
        return False
    left = left_of(context, state["trace"])
    share = Spending(left.calls * SHARE, left.sequential, left.tokens * SHARE)
    return not share.lacks(Spending(1, 2, context.window_tokens + context.answer_tokens))


def further_queries(runtime: Runtime[Context]) -> asyncio.Future[list[Query]]:
    """Return what the branches of this step share: the queries, once `rewrite` has them.

    It only saves time. In a run that goes on after a kill, `rewrite` may be done and say nothing more.
    """
    loop = asyncio.get_running_loop()
    step = runtime.execution_info
    if step is None:
        return loop.create_future()
    # Branches of one step start from one checkpoint, and a future belongs to its event loop.
    return _further.setdefault((step.checkpoint_id, id(loop)), loop.create_future())


def tell(runtime: Runtime[Context], queries: list[Query]) -> None:
    """Let the other branch know what will be searched for; nothing where nobody listens."""
    heard = further_queries(runtime)
    if not heard.done():
        heard.set_result(queries)

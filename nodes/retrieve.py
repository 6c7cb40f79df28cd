"""One retriever, all queries in one batch: one branch of the fan-out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from langchain_core.retrievers import BaseRetriever
from langgraph.runtime import Runtime

from anabranch.corpus.store import Arm, RankedList
from anabranch.errors import SettingsError, UserError
from anabranch.guests import guest_lists
from graph.context import Context, settle
from graph.state import Retrieved, RetrieveTask
from nodes.resources import corpus_of, scope_of
from nodes.traced import Update, traced

ARMS = ("bm25", "dense")


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
            lists = await corpus.search(cast("Arm", arm), texts, context.depth, scope)
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


def _guest(arm: str, guests: Mapping[str, BaseRetriever]) -> BaseRetriever:
    if arm not in guests:
        known = ", ".join([*ARMS, *guests])
        msg = f"There is no retriever {arm!r}; known here: {known}."
        raise SettingsError(msg, hint="Give it to build(retrievers={...}), or leave it out of `retrievers`.")
    return guests[arm]


def _length(ranked: RankedList) -> int:
    return len(ranked["ids"])

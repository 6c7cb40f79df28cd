"""Loads what every question needs while the server starts, so that the first reader waits no longer than the others."""

from __future__ import annotations

import gc
from contextlib import suppress

from anabranch.agent.graph.dependencies import load_corpus, load_model
from anabranch.agent.nodes.settings import Context
from anabranch.errors import AnabranchError
from anabranch.identity.user import TENANT
from anabranch.models.embedder import TokenVectors
from anabranch.safety.operator import as_operator
from anabranch.store.protocol import Scope

_QUERY = "anabranch"
"""What is searched for, whatever is found."""


async def warm_start(context: Context) -> None:
    """Open the corpus, search it once and make the model's client, as the operator; nothing is asked of a provider.

    What fails here is said by the first question that needs it.
    """
    with as_operator(), suppress(AnabranchError):
        # Each tenant has a corpus of its own, and who comes first is not known.
        if TENANT not in context.corpus:
            corpus = await load_corpus(context)
            await corpus.search("bm25", [_QUERY], 1, Scope())
            # Who has vectors of tokens computes them here. A hosted embedder would be paid for the query.
            if isinstance(corpus.embedder, TokenVectors):
                await corpus.search("dense", [_QUERY], 1, Scope())
        await load_model(context)
    # What is loaded by now stays for as long as the server runs. Looking through it again and again would stop all
    # readers for a quarter of a second each time.
    gc.collect()
    gc.freeze()

"""Loads what every question needs while the server starts, so that the first one is not slower."""

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
"""Any query, because the result does not matter."""

YOUNG = 10_000
"""Objects made until the garbage collector looks for cycles among them.

Python's 700 cost 20 CPU-ms of a question of 275, 32 at once, and stopped everybody for 0.2 s each 13 questions; 10,000
cost 5, with the same memory after 224 questions (+46 MB); 50,000 cost 4, and 5 MB more; no collection, 52 MB more.
"""


async def warm_start(context: Context) -> None:
    """Open the corpus, search it once and make the model's client, as the operator; no provider is called.

    Errors are left to the first question, which meets them again.
    """
    with as_operator(), suppress(AnabranchError):
        # With a corpus for each tenant, the first one is not known.
        if TENANT not in context.corpus:
            corpus = await load_corpus(context)
            await corpus.search("bm25", [_QUERY], 1, Scope())
            # Only a local embedder: a hosted one would cost money.
            if isinstance(corpus.embedder, TokenVectors):
                await corpus.search("dense", [_QUERY], 1, Scope())
        await load_model(context)
    # Frozen objects are skipped by the garbage collector, which would stop all readers for a quarter of a second
    # each time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)

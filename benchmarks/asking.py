"""Questions that were never asked before, and a model that answers after a fixed time.

A corpus keeps the vectors of questions, so a repeated question would be measured without its embedding.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace

from tests.graph.replies import model, passages_in
from tests.servers.calls import Request
from tests.servers.scripts import Reply, Script

FORMS = (
    "How does Anabranch handle {}?",
    "What does the answer graph do about {}?",
    "When does the answer graph need {}?",
    "Which step of the answer graph is about {}?",
    "Why does the answer depend on {}?",
)
SUBJECTS = (
    "a follow-up question", "search queries", "ranked lists", "rank fusion", "the reranker", "merging of leaves",
    "larger passages", "evidence", "a second round of retrieval", "windows of passages", "the choice of the route",
    "create and refine", "map and reduce", "partial answers", "verification of quotes", "citations", "abstention",
    "the final answer", "the trace", "checkpoints", "an interrupted run", "the chat model", "the embedder",
    "the settings", "retrievers", "filters", "the conversation", "a question without evidence", "the fused order",
    "passages of one source",
)  # fmt: skip


def questions() -> Iterator[str]:
    """Yield distinct questions about the project's guide."""
    for number, (form, subject) in enumerate(itertools.cycle(itertools.product(FORMS, SUBJECTS))):
        again = number // (len(FORMS) * len(SUBJECTS))
        yield form.format(subject) + (f" ({again})" if again else "")


def answering(delay: float) -> Script:
    """Return a model that does what each step asks, `delay` seconds after the request."""
    script = model(rewrite=_rewritten, rerank=_judged)
    return lambda request: replace(script(request), delay=delay)


def _rewritten(request: Request) -> Reply:
    """Write three queries that no question had before."""
    question = request.user.split("Question:")[1].splitlines()[0].strip(" ?")
    return Reply(f"{question} in detail\n{question} in one sentence\nexplanation of: {question}")


def _judged(request: Request) -> Reply:
    """Find every passage relevant, the first one the most, in the form asked for."""
    judged = {number: max(10 - number, 5) for number in passages_in(request)}
    if '"ranking"' in request.system:
        return Reply(json.dumps({"ranking": list(judged.items())}))
    return Reply("\n".join(f"Doc: {number}, Relevance: {relevance}" for number, relevance in judged.items()))

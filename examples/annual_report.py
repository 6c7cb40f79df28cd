"""An annual report in small chunks: forty passages are found, and five of them are kept by a reranker.

Small chunks find the sentence among boilerplate that repeats itself, and a wide first search makes up for how little
each of them holds. Without a chat model the five best of the fused list are kept.
"""

from anabranch.agent.nodes.settings import Context
from examples.running import answered, changed, experiment, found, passage_line, show, show_answer, start

FOUND, KEPT = 40, 5


def run(question: str, context: Context) -> None:
    """Search an annual report in chunks of 128 tokens; keep forty passages, then five."""
    # The confidence in the evidence is calibrated for more passages than five.
    first = changed(context, top_k=FOUND, merge_threshold=1.0, grade="none")
    rerank = "llm" if context.model else "none"
    reranked = changed(first, top_k=KEPT, rerank=rerank, rerank_depth=FOUND, rerank_batch=5)
    hits = found(question, first)
    pages = sorted({chunk.page for _, chunk in hits if chunk.page is not None})
    show(f"{len(hits)} passages by both retrievers", [f"on the pages {', '.join(map(str, pages)) or 'of a text'}"])
    show(f"The {KEPT} that are kept", [passage_line(*hit) for hit in found(question, reranked)])
    show_answer(answered(question, reranked))


main = experiment(run, "annual-report", "What initiatives are the company focusing on independently of COVID-19?")

if __name__ == "__main__":
    start(main)

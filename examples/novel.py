"""A novel in large chunks: ten passages are found, and three of them are kept by a reranker.

Chunks of 512 tokens, `top_k` 10, then the three that a chat model finds most relevant. Without a model there is nobody
to judge, and the three best of the fused list are kept.
"""

from anabranch.agent.nodes.settings import Context
from examples.running import answered, changed, experiment, found, passage_line, show, show_answer, start

FOUND, KEPT = 10, 3


def run(question: str, context: Context) -> None:
    """Search a novel in chunks of 512 tokens; keep ten passages, then three."""
    # The confidence in the evidence is calibrated for the default chunks, and for more of them.
    first = changed(context, top_k=FOUND, merge_threshold=1.0, grade="none")
    rerank = "llm" if context.model else "none"
    reranked = changed(first, top_k=KEPT, rerank=rerank, rerank_depth=FOUND, rerank_batch=5)
    show(f"The first {FOUND} by both retrievers", [passage_line(*hit) for hit in found(question, first)])
    show(f"The {KEPT} that are kept", [passage_line(*hit) for hit in found(question, reranked)])
    show_answer(answered(question, reranked))


main = experiment(run, "novel", "Who was driving the car that hit Myrtle?", (2048, 1024, 512))

if __name__ == "__main__":
    start(main)

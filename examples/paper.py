"""A paper, searched by four queries in two retrievers: eight ranked lists, fused into one by reciprocal ranks.

The chat model writes three variants of the question, which weigh as much as it does. Without one the question alone is
searched for, in two lists.
"""

from anabranch.agent.nodes.settings import Context
from examples.running import answered, changed, experiment, found, passage_line, show, show_answer, start

QUERIES, KEPT = 4, 5


def run(question: str, context: Context) -> None:
    """Search a paper with several queries in two retrievers, and fuse the lists."""
    for retriever in ("bm25", "dense"):
        alone = changed(context, retrievers=(retriever,), fusion="rrf", top_k=KEPT)
        show(f"{retriever} alone, the question alone", [passage_line(*hit) for hit in found(question, alone)])
    fused = changed(
        context, strategy="multi", n_queries=QUERIES, variant_weight=QUERIES - 1.0, fusion="rrf", top_k=KEPT,
        merge_threshold=1.0,
    )  # fmt: skip
    state = answered(question, fused)
    queries = [f"{query['kind']} ({query['weight']:.2f}): {query['text']}" for query in state["queries"]]
    show(f"{len(queries)} queries, {2 * len(queries)} ranked lists", queries)
    show("Fused", [passage_line(*hit) for hit in found(question, fused)])
    show_answer(state)


ASKED = "How do the models developed in this work compare to open-source chat models based on the benchmarks tested?"
main = experiment(run, "paper", ASKED)

if __name__ == "__main__":
    start(main)

"""A chat model reads every passage and chooses: an LLM as the retriever, and as the reranker of both others.

For a small document. Without a model there is nobody to read, and the fused list is all there is.
"""

from anabranch.agent.nodes.settings import Context
from examples.running import changed, experiment, found, passage_line, show, start


def run(question: str, context: Context) -> None:
    """Have a chat model rerank what others retrieve, and retrieve by itself."""
    fused = changed(context, top_k=3)
    ways = {"Both retrievers": fused}
    if context.model:
        ways["Both, reranked by the model"] = changed(fused, rerank="llm", rerank_depth=10, rerank_batch=5)
        ways["The model alone, which read everything"] = changed(fused, retrievers=("llm",))
    for title, way in ways.items():
        show(title, [passage_line(*hit) for hit in found(question, way)])


main = experiment(run, "reading", "Who was driving the car that hit Myrtle?")

if __name__ == "__main__":
    start(main)

"""A paper, searched by four queries in two retrievers: eight ranked lists, fused into one by reciprocal ranks.

The chat model writes three variants of the question. Without one the question alone is searched for, in two lists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from examples.running import HOME, answered, corpus_of, found, passage_line, show, show_answer
from nodes.settings import Context

SIZES = (2048, 512, 128)
QUERIES, KEPT = 4, 5
QUESTION = "How do the models developed in this work compare to open-source chat models based on the benchmarks tested?"


def main(
    document: Annotated[Path, typer.Argument(help="A paper, as PDF or in any form that Anabranch reads.")],
    question: Annotated[str, typer.Option(help="What to ask.")] = QUESTION,
    model: Annotated[str | None, typer.Option(help="Chat model that asks and answers, provider:name.")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible server of the model.")] = None,
    home: Annotated[Path, typer.Option(help="Folder for the corpus.")] = HOME,
) -> None:
    """Search a paper with several queries in two retrievers, and fuse the lists."""
    context = Context(
        corpus=corpus_of(document, "paper", SIZES, home),
        model=model,
        base_url=base_url,
        strategy="multi",
        n_queries=QUERIES,
        retrievers=("bm25", "dense"),
        fusion="rrf",
        top_k=KEPT,
        merge_threshold=1.0,
    )
    for retriever in context.retrievers:
        alone = context.model_copy(update={"retrievers": (retriever,), "strategy": "none"})
        show(f"{retriever} alone, the question alone", [passage_line(*hit) for hit in found(question, alone)])
    state = answered(question, context)
    queries = [f"{query['kind']} ({query['weight']:.2f}): {query['text']}" for query in state["queries"]]
    show(f"{len(queries)} queries, {len(queries) * len(context.retrievers)} ranked lists", queries)
    show("Fused", [passage_line(*hit) for hit in found(question, context)])
    show_answer(state)


if __name__ == "__main__":
    typer.run(guarded(main))

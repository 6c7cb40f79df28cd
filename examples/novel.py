"""A novel in large chunks: ten passages are found, and three of them are kept by a reranker.

Chunks of 512 tokens, `top_k` 10, then the three that a chat model finds most relevant. Without a model there is nobody
to judge, and the three best of the fused list are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from examples.running import HOME, answered, corpus_of, found, passage_line, show, show_answer
from nodes.settings import Context

SIZES = (2048, 1024, 512)
FOUND, KEPT = 10, 3
QUESTION = "Who was driving the car that hit Myrtle?"


def main(
    document: Annotated[Path, typer.Argument(help="A novel, as text or in any form that Anabranch reads.")],
    question: Annotated[str, typer.Option(help="What to ask.")] = QUESTION,
    model: Annotated[str | None, typer.Option(help="Chat model that reranks and answers, provider:name.")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible server of the model.")] = None,
    home: Annotated[Path, typer.Option(help="Folder for the corpus.")] = HOME,
) -> None:
    """Search a novel in chunks of 512 tokens; keep ten passages, then three."""
    corpus = corpus_of(document, "novel", SIZES, home)
    context = Context(
        corpus=corpus,
        model=model,
        base_url=base_url,
        top_k=FOUND,
        rerank="none",
        merge_threshold=1.0,
        strategy="none",
        # The confidence in the evidence is calibrated for the default chunks, and for more of them.
        grade="none",
    )
    reranked = context.model_copy(
        update={"top_k": KEPT, "rerank": "llm" if model else "none", "rerank_depth": FOUND, "rerank_batch": 5}
    )
    show(f"The first {FOUND} by both retrievers", [passage_line(*hit) for hit in found(question, context)])
    show(f"The {KEPT} that are kept", [passage_line(*hit) for hit in found(question, reranked)])
    show_answer(answered(question, reranked))


if __name__ == "__main__":
    typer.run(guarded(main))

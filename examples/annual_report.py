"""An annual report in small chunks: forty passages are found, and five of them are kept by a reranker.

Small chunks find the sentence among boilerplate that repeats itself, and a wide first search makes up for how little
each of them holds. Without a chat model the five best of the fused list are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from examples.running import HOME, answered, corpus_of, found, passage_line, show, show_answer
from nodes.settings import Context

SIZES = (2048, 512, 128)
FOUND, KEPT = 40, 5
QUESTION = "What initiatives are the company focusing on independently of COVID-19?"


def main(
    document: Annotated[Path, typer.Argument(help="An annual report, such as a 10-K as PDF or HTML.")],
    question: Annotated[str, typer.Option(help="What to ask.")] = QUESTION,
    model: Annotated[str | None, typer.Option(help="Chat model that reranks and answers, provider:name.")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible server of the model.")] = None,
    home: Annotated[Path, typer.Option(help="Folder for the corpus.")] = HOME,
) -> None:
    """Search an annual report in chunks of 128 tokens; keep forty passages, then five."""
    corpus = corpus_of(document, "annual-report", SIZES, home)
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
    hits = found(question, context)
    pages = sorted({chunk.page for _, chunk in hits if chunk.page is not None})
    show(f"{len(hits)} passages by both retrievers", [f"on the pages {', '.join(map(str, pages)) or 'of a text'}"])
    show(f"The {KEPT} that are kept", [passage_line(*hit) for hit in found(question, reranked)])
    show_answer(answered(question, reranked))


if __name__ == "__main__":
    typer.run(guarded(main))

"""A summary as a tree over six passages: one answer per passage, then two at a time until one is left.

The partial answers of a level do not wait for each other: six passages are three rounds of calls after the first, not
six. Without a chat model there is no summary: the sentences that cover the question best stand side by side.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from examples.running import HOME, answered, corpus_of, found, passage_line, show, show_answer
from nodes.settings import Context

SIZES = (2048, 512, 128)
NODES, FAN_IN = 6, 2
QUESTION = "Can you tell me about results from RLHF using both model-based and human-based evaluation?"


def main(
    document: Annotated[Path, typer.Argument(help="Any document.")],
    question: Annotated[str, typer.Option(help="What to ask.")] = QUESTION,
    model: Annotated[str | None, typer.Option(help="Chat model that summarises, provider:name.")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible server of the model.")] = None,
    home: Annotated[Path, typer.Option(help="Folder for the corpus.")] = HOME,
) -> None:
    """Summarise six passages as a tree."""
    context = Context(
        corpus=corpus_of(document, "tree", SIZES, home),
        model=model,
        base_url=base_url,
        strategy="none",
        rerank="none",
        top_k=NODES,
        merge_threshold=1.0,
        # A window holds one passage, so that each of them is a leaf of the tree.
        window_tokens=SIZES[-1],
        synthesis="map_reduce",
        fan_in=FAN_IN,
        # Answers with markers are joined by the model; plain ones would stand one after the other.
        answer_form="cited",
        grade="none",
    )
    show(f"{NODES} passages", [passage_line(*hit) for hit in found(question, context)])
    state = answered(question, context)
    levels: Counter[tuple[str, str]] = Counter()
    for step in state["trace"]:
        if step["node"] in ("map", "reduce"):
            levels[step["round"], step["node"]] += step["calls"]
    show("The tree", [f"{node}: {calls} calls at the same time" for (_, node), calls in levels.items()])
    show_answer(state)


if __name__ == "__main__":
    typer.run(guarded(main))

"""Ten sentences about transformers, searched by words, by meaning, and by both with a weight of one half.

Which sentence comes first depends on the retriever: the question shares a rare word with one of them and its meaning
with another. `alpha` weighs the two lists after their scores were brought to the same scale. A cross-encoder of yours
reads five of them with the question and keeps three.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from anabranch.agent.nodes.settings import Context
from examples.running import HOME, SIZES, changed, corpus_of, found, show, start

SHOWN = 3
QUESTION = "Why is reading a long document expensive?"
SENTENCES = (
    "Self-attention lets every token look at all the others and take from each as much as matters to it.",
    "Because attention by itself ignores where a token stands, each position gets an encoding of its own.",
    "Several attention heads run side by side, so that one can follow grammar while another follows names.",
    "The encoder reads the whole input at once; the decoder writes one token after the other, from left to right.",
    "A causal mask keeps the decoder from looking at tokens that it has not written yet.",
    "Residual connections and layer normalisation keep gradients healthy on their long way down through many layers.",
    "The feed-forward network between two attention layers holds most of the parameters of the model.",
    "Words are cut into pieces before training, so that a rare word is spelled with frequent ones.",
    "Dropout switches some of the units off at random, which keeps a model from learning its examples by heart.",
    "The cost of attention grows with the square of the length, which makes long texts dear.",
)


def main(
    question: Annotated[str, typer.Option(help="What to ask.")] = QUESTION,
    cross_encoder: Annotated[str | None, typer.Option(help="Folder of an ONNX cross-encoder that reranks.")] = None,
    home: Annotated[Path, typer.Option(help="Folder for the corpus.")] = HOME,
) -> None:
    """Search ten sentences by words, by meaning and by both; then rerank five of them."""
    home.mkdir(parents=True, exist_ok=True)
    file = home / "sentences.jsonl"
    rows = [json.dumps({"id": f"s{number}", "text": text}) for number, text in enumerate(SENTENCES, start=1)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    corpus = corpus_of(file, "sentences", SIZES, home)
    both = Context(corpus=corpus, fusion="convex", alpha=0.5, strategy="none", top_k=SHOWN)
    ways = {f"alpha {alpha:g}": changed(both, alpha=alpha) for alpha in (0.0, 0.5, 1.0)}
    if cross_encoder:
        reranker = {"rerank": "cross_encoder", "rerank_model": cross_encoder, "rerank_depth": 5}
        ways["alpha 0.5, five of them reranked"] = changed(both, **reranker)
    for title, way in ways.items():
        hits = found(question, way)
        show(title, [f"{item['score']:.3f} {chunk.doc_key}: {chunk.text}" for item, chunk in hits])


if __name__ == "__main__":
    start(main)

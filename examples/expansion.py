"""Further queries by a sequence-to-sequence model in a folder, such as BART or T5, in the place of a chat model.

The folder is one of transformers, with its weights as safetensors; nothing is downloaded. Anabranch does not need
transformers and torch: install them yourself. A model that was not trained to rephrase writes poor queries, so look at
what it wrote before you use it.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

import typer

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.errors import UserError
from anabranch.retrieval.query_generator import QueryGenerator
from examples.running import HOME, SIZES, changed, corpus_of, show, show_answer, start

QUERIES, TOKENS, TEMPERATURE = 4, 60, 1.5
READ = 512
"""Most tokens of the question that the model reads."""


def rephrase_by(folder: Path) -> QueryGenerator:
    """Return a function that samples rephrasings of a question from the model in a folder.

    Raises:
        UserError: transformers or torch is not installed, or the folder holds no such model.
    """
    try:
        transformers, torch = import_module("transformers"), import_module("torch")
    except ImportError as error:
        raise UserError(f"{error.name} is not installed.", hint="Run pip install torch transformers.") from error
    # No pickled weights, no code of the folder's, no network.
    loading = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **loading)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, use_safetensors=True, **loading).eval()
    except (OSError, ValueError) as error:
        msg = f"{folder} holds no sequence-to-sequence model that can be used: {error}"
        raise UserError(
            msg, hint="Give the folder of a transformers model such as BART, with model.safetensors."
        ) from error
    # One question at a time: torch uses all cores for one, and its random numbers are those of the process.
    lock = Lock()
    longest = min(READ, tokenizer.model_max_length)

    def rephrase(question: str, n: int) -> list[str]:
        with lock, torch.inference_mode():
            # The same question is always rephrased alike.
            torch.manual_seed(0)
            read: Any = tokenizer(question, return_tensors="pt", truncation=True, max_length=longest)
            written = model.generate(
                input_ids=read["input_ids"], attention_mask=read["attention_mask"], do_sample=True, num_beams=1,
                temperature=TEMPERATURE, num_return_sequences=n, max_new_tokens=TOKENS,
            )  # fmt: skip
            return list(tokenizer.batch_decode(written, skip_special_tokens=True))

    return rephrase


def main(
    document: Annotated[Path, typer.Argument(help="A document in any form that Anabranch reads.")],
    generator: Annotated[Path, typer.Option(help="Folder of a sequence-to-sequence model of transformers.")],
    question: Annotated[str, typer.Option(help="What to ask.")] = "What is this document about?",
    model: Annotated[str | None, typer.Option(help="Chat model that writes the answer, provider:name.")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible server of the model.")] = None,
    home: Annotated[Path, typer.Option(help="Folder for the corpus.")] = HOME,
) -> None:
    """Search a document for a question and for its rephrasings by a local model."""
    graph = build(queries=rephrase_by(generator)).compile()
    corpus = corpus_of(document, "expansion", SIZES, home)
    context = changed(Context(corpus=corpus, model=model, base_url=base_url), n_queries=QUERIES)
    state: dict[str, Any] = asyncio.run(graph.ainvoke({"question": question}, context=context, output_keys=VISIBLE))
    show("Queries", [f"{query['kind']} ({query['weight']:.2f}): {query['text']}" for query in state["queries"]])
    show_answer(state)


if __name__ == "__main__":
    start(main)

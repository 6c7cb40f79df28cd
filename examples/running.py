"""What the experiments share: a command line, a corpus of one document, one turn of the graph, its result as text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch.agent.graph.answer import graph as answering
from anabranch.agent.graph.dependencies import read_chunks
from anabranch.agent.graph.retrieval import graph as searching
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.chunking.hierarchical_chunker import Sizes
from anabranch.cli.failures import guarded
from anabranch.errors import UserError
from anabranch.ingestion.pipeline import ingest
from anabranch.readers.document import Chunk
from anabranch.types import Candidate

HOME = Path(".anabranch/examples")
SIZES = (2048, 512, 128)
SHOWN = 100
"""Characters of a passage that are printed."""


Experiment = Callable[[str, Context], None]
"""Takes the question and the settings that every experiment begins with: corpus, model, no further queries."""


def experiment(run: Experiment, name: str, question: str, sizes: Sizes = SIZES) -> Callable[..., None]:
    """Return the command of an experiment on one document.

    Args:
        run: The experiment; its docstring is the command's help.
        name: Of its corpus.
        question: What is asked where no other question is given.
        sizes: Tokens of root, middle and leaf.
    """

    def main(
        document: Annotated[Path, typer.Argument(help="A document in any form that Anabranch reads.")],
        question: Annotated[str, typer.Option(help="What to ask.")] = question,
        model: Annotated[str | None, typer.Option(help="Chat model that takes part, provider:name.")] = None,
        base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible server of the model.")] = None,
        home: Annotated[Path, typer.Option(help="Folder for the corpus.")] = HOME,
    ) -> None:
        corpus = corpus_of(document, name, sizes, home)
        run(question, Context(corpus=corpus, model=model, base_url=base_url, strategy="none"))

    main.__doc__ = run.__doc__
    return main


def start(main: Callable[..., None]) -> None:
    """Run a command, with its mistakes told as those of `anabranch`."""
    typer.run(guarded(main))


def changed(context: Context, **settings: Any) -> Context:  # noqa: ANN401  # settings of any type
    """Return the settings with some of them changed."""
    return context.model_copy(update=settings)


def corpus_of(document: Path, name: str, sizes: Sizes, home: Path = HOME) -> str:
    """Take one document into a corpus of its own; an unchanged one is not read again."""
    folder = home / name
    report = ingest([document], folder, sizes=sizes)
    for row in report.rows:
        if row.status == "failed":
            raise UserError(f"{row.source} could not be taken in: {row.reason}", hint="Give another document.")
    return str(folder)


def found(question: str, context: Context) -> list[tuple[Candidate, Chunk]]:
    """Return the passages that a search keeps, best first."""
    return asyncio.run(_found(question, context))


async def _found(question: str, context: Context) -> list[tuple[Candidate, Chunk]]:
    state = await searching.ainvoke({"question": question}, context=context)
    candidates: list[Candidate] = state["candidates"]
    chunks = await read_chunks(context, state, [candidate["id"] for candidate in candidates])
    return [(candidate, chunks[candidate["id"]]) for candidate in candidates if candidate["id"] in chunks]


def answered(question: str, context: Context) -> dict[str, Any]:
    """Return the end state of one turn."""
    return asyncio.run(answering.ainvoke({"question": question}, context=context, output_keys=VISIBLE))


def show(title: str, lines: Iterable[str]) -> None:
    """Print a heading and what belongs under it."""
    typer.echo(f"\n{title}")
    for line in lines:
        typer.echo(f"  {line}")


def passage_line(candidate: Candidate, chunk: Chunk) -> str:
    """Return one passage on a line: its score, its rank in each retriever, its page, its first words."""
    ranks = ", ".join(f"{retriever} {rank}" for retriever, rank in sorted(candidate["ranks"].items()))
    page = f" p. {chunk.page}" if chunk.page is not None else ""
    return f"{candidate['score']:.3f} ({ranks}){page}: {' '.join(chunk.text.split())[:SHOWN]}"


def show_answer(state: dict[str, Any]) -> None:
    """Print the answer, where it is from, and how it came about."""
    show("Answer", state["answer"].splitlines())
    show("Sources", [f"[{c['marker']}] {c['source']}{_page(c)}: {c['quote'][:SHOWN]}" for c in state["citations"]])
    usage = state["usage"]
    show("Route", [f"{state['route']['name'] or 'none'}: {'; '.join(state['route']['reasons'])}".rstrip(": ")])
    show("Model", [f"{usage['calls']} calls in {usage['rounds']} rounds, {usage['prompt_tokens']} prompt tokens"])


def _page(citation: dict[str, Any]) -> str:
    return f", p. {citation['page']}" if citation["page"] is not None else ""

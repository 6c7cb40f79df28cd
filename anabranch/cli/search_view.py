"""The output of `anabranch search`: hits for a person or a program, and TREC runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from rich.text import Text

from anabranch.agent.graph.dependencies import load_corpus, load_model, read_chunks
from anabranch.agent.graph.retrieval import graph as search
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.cli.answer_view import NOTHING_MATCHES
from anabranch.cli.output import check_folder, notes, results, say, write_json, write_whole
from anabranch.cli.progress import bar
from anabranch.cli.question_file import read_questions
from anabranch.cli.settings_options import with_at_least
from anabranch.readers.document import Chunk
from anabranch.retrieval.trec_run import best_per_document, check_query_id, run_lines
from anabranch.safety.link_removal import make_plain, name_source
from anabranch.types import Candidate

LEAVES_PER_DOCUMENT = 10
"""Leaf passages searched for each document of a run, because several may be from one document."""

AT_ONCE = 4
SHOWN_CHARS = 300

Hit = tuple[Candidate, Chunk]


async def hits_of(query: str, context: Context, filters: dict[str, Any] | None) -> tuple[list[Hit], dict[str, Any]]:
    """Return the leaf passages that a query finds, best first, and the final state of the search."""
    state = await search.ainvoke(InputState(question=query, filters=filters), context=context)
    candidates: list[Candidate] = state["candidates"]
    found = await read_chunks(context, state, [candidate["id"] for candidate in candidates])
    return [(item, found[item["id"]]) for item in candidates if item["id"] in found], state


async def show_hits(query: str, context: Context, filters: dict[str, Any] | None, *, as_json: bool) -> None:
    """Print the best passages."""
    hits, state = await hits_of(query, context, filters)
    if as_json:
        write_json([hit_row(candidate, chunk) for candidate, chunk in hits])
    else:
        _print_hits(hits, is_narrowed=bool(filters))
    for item in state["degraded"]:
        # On standard error, so that --json stays JSON.
        say(notes(), f"degraded: {item['step']}: {item['reason']}", style="yellow")


def hit_row(candidate: Candidate, chunk: Chunk) -> dict[str, Any]:
    """Return one passage as `search --json` prints it; `doc_id` is the name that a TREC run gives the document."""
    return {
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_key,
        "source": chunk.source,
        "title": chunk.title,
        "page": chunk.page,
        "heading": chunk.heading,
        "score": candidate["score"],
        "ranks": candidate["ranks"],
        "text": chunk.text,
    }


async def write_run(queries: Path, run: Path, context: Context, filters: dict[str, Any] | None, *, depth: int) -> None:
    """Search every query, and write a TREC run of documents; the file appears when it is whole."""
    asked = read_questions(queries)
    # Checked before the first search, because the run is written only at the end.
    for item in asked:
        check_query_id(item.key)
    check_folder(run, "--run")
    # A run counts documents, but one document may fill many places of the passage list.
    leaves = depth * LEAVES_PER_DOCUMENT
    context = with_at_least(context, top_k=max(leaves, context.top_k), depth=leaves)
    # A missing corpus or key is reported once here, not for each query.
    await load_corpus(context)
    await load_model(context)
    gate = asyncio.Semaphore(AT_ONCE)
    with bar("queries", len(asked)) as advance:

        async def lines_of(key: str, text: str) -> tuple[list[str], set[str]]:
            async with gate:
                hits, state = await hits_of(text, context, filters)
            advance()
            ranked = best_per_document(((chunk.doc_key, item["score"]) for item, chunk in hits), depth)
            return list(run_lines(key, ranked)), {f"{item['step']}: {item['reason']}" for item in state["degraded"]}

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(lines_of(item.key, item.question)) for item in asked]
    found = [task.result() for task in tasks]
    # Whole or not at all: an evaluator would take half a run for a poor one.
    await asyncio.to_thread(write_whole, run, "".join(f"{line}\n" for lines, _ in found for line in lines))
    for reason in sorted(set().union(*(reasons for _, reasons in found))):
        say(notes(), f"degraded: {reason}", style="yellow")
    empty = sum(not lines for lines, _ in found)
    say(
        notes(), f"{len(asked)} queries, {sum(len(lines) for lines, _ in found)} lines in {run}; {empty} found nothing."
    )


def _print_hits(hits: list[Hit], *, is_narrowed: bool) -> None:
    console = results()
    if not hits:
        say(console, NOTHING_MATCHES if is_narrowed else "Nothing was found.")
    for number, (candidate, chunk) in enumerate(hits, start=1):
        ranks = ", ".join(f"{retriever} {rank}" for retriever, rank in sorted(candidate["ranks"].items()))
        page = f", p. {chunk.page}" if chunk.page is not None else ""
        heading = f", {make_plain(chunk.heading)}" if chunk.heading else ""
        line = Text(f"{number}. {name_source(chunk.source)}{page}{heading}", style="bold")
        line.append(f"  {candidate['score']:.3f} ({ranks})", style="dim not bold")
        console.print(line, soft_wrap=not console.is_terminal)
        say(console, f"   {make_plain(chunk.text, SHOWN_CHARS)}")

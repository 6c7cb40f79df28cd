"""Asks one question in one way, and tells what was found, said and taken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver

from anabranch import Scope, open_corpus
from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.text.phrases import phrases_for
from anabranch.types import Chunk

FIRST = 24
"""Passages that count as found: as many as a search keeps by default."""
PATIENCE = 3600.0

_CONFIG: Any = {"configurable": {"thread_id": "asked"}}


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one question.

    Attributes:
        part: The table that it belongs to.
        set: Its world or collection.
        id: Of the question.
        way: How it was asked.
        planned: Whether the model planned a chain.
        hops: Further searches.
        found: Whether all passages that answer it are among the first.
        right: Whether the answer is right; None if there is none.
        confirmed: Whether the check holds the answer; None for another system.
        failed: What another system failed with.
        calls: Model calls.
        prompt_tokens: Of all of them.
        output_tokens: Of all of them.
        answer: What it says.
    """

    part: str
    set: str
    id: str
    way: str
    planned: bool = False
    hops: int = 0
    found: bool = False
    right: bool | None = None
    confirmed: bool | None = None
    failed: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """How the graph is asked: over which corpus, by which model, and how far."""

    corpus: Path | str
    model: BaseChatModel | None
    settings: Mapping[str, Any]
    answers: bool


async def ask_graph(question: str, asking: Asking, *, hops: int) -> dict[str, Any]:
    """Ask the whole graph, or, where no answer is wanted, all of it up to the writing; return the state."""
    context = Context(corpus=str(asking.corpus), hops=hops, **asking.settings)
    before = [] if asking.answers else ["pack", "abstain"]
    compiled = build(model=asking.model).compile(checkpointer=InMemorySaver(), interrupt_before=before)
    state: dict[str, Any] = await compiled.ainvoke(
        {"question": question}, _CONFIG, context=context, output_keys=VISIBLE
    )
    return state


async def first_chunks(corpus: Path | str, state: Mapping[str, Any]) -> list[Chunk]:
    """Return the first passages that a search found."""
    ids = [candidate["id"] for candidate in state["candidates"][:FIRST]]
    found = await (await open_corpus(str(corpus))).chunks(ids, Scope())
    return [found[each] for each in ids if each in found]


async def measure(
    asked: Measured,
    question: str,
    asking: Asking,
    *,
    hops: int,
    is_gold: Callable[[Sequence[Chunk]], bool],
    is_right: Callable[[str], bool],
) -> Measured:
    """Ask one question of the graph.

    Args:
        asked: What names it.
        question: Its text.
        asking: How it is asked.
        hops: Most further searches; 0 is one search.
        is_gold: Tells whether passages hold all that answers it.
        is_right: Tells whether an answer is right.
    """
    state = await ask_graph(question, asking, hops=hops)
    chunks = await first_chunks(asking.corpus, state)
    links = state["chain"]["links"]
    said = _words_of_model(state) if asking.answers else ""
    abstained = state.get("abstained", False)
    return Measured(
        part=asked.part,
        set=asked.set,
        id=asked.id,
        way=asked.way,
        planned=bool(state["chain"]["steps"]),
        hops=links[-1]["hop"] if links else 0,
        found=await asyncio.to_thread(is_gold, chunks),
        right=None if abstained or not asking.answers else is_right(said),
        confirmed=state["status"] == "answered" if asking.answers else None,
        calls=sum(step["calls"] for step in state["trace"]),
        prompt_tokens=sum(step["prompt_tokens"] for step in state["trace"]),
        output_tokens=sum(step["output_tokens"] for step in state["trace"]),
        answer=said,
    )


def _words_of_model(state: Mapping[str, Any]) -> str:
    """Return what the model said: neither the nearest passages below it nor the line of the values is by it."""
    if state["status"] == "not_confirmed":
        return " ".join(each["text"] for each in state["unconfirmed"])
    line = f"{phrases_for(state['turn']['question'], 'english')['by_way_of']}: "
    return "\n\n".join(part for part in state["answer"].split("\n\n") if not part.startswith(line))

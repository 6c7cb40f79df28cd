"""Find the value that the next query of a chain is made of; the program checks that it stands in a passage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.prompts import FOLLOW
from anabranch.errors import ModelError
from anabranch.extracts.nearest_passages import select_leaves, take_fitting
from anabranch.parsing.query_list import MAX_QUERY, parse_queries
from anabranch.retrieval.query_chain import FOLLOWED, count_hops, is_open, list_asked
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.types import FOUND, Chain, Chunk, Link, Query

if TYPE_CHECKING:
    from anabranch.models.chat import Chat
    from anabranch.retrieval.found_value import FoundValue


MAX_VALUES = 2
"""Most values of one round, each of which makes a query."""

MAX_REASON = 300
"""Most characters of the reason why a chain ended: a step of a plan may have many places for long values."""


async def follow(state: RetrievalState, turn: Turn) -> Update:
    """Add up to two queries to the chain, or end it; what was found before is kept either way."""
    chain, hop = state["chain"], count_hops(state["chain"]) + 1
    chat = await turn.chat()
    # An edited thread may come here with a plan that has no further step.
    if not is_open(chain, turn.settings.hops):
        return {"chain": _end(chain, "the plan has no further step")}
    if chat is None or not turn.budget.allows(tokens=turn.settings.window_tokens):
        return {"chain": _end(chain, "no model call was left for it")}
    leaves = await _read_leaves(state, turn)
    await turn.audit("read", leaves, step="follow")
    asked = list_asked(chain)
    try:
        async with turn.awaiting_model():
            values = await _ask(chat, leaves, asked)
    except ModelError as error:
        turn.degraded("follow", error)
        return {"chain": _end(chain, "the model failed")}
    links = [_make_link(chain, " / ".join(asked), value, hop) for value in values]
    turn.count(hop=hop, values=[link["value"] for link in links], queries=[link["query"] for link in links])
    if not links:
        return {"chain": _end(chain, "no passage holds a value that answers: " + " / ".join(asked))}
    return {
        "queries": [*state["queries"], *(Query(text=link["query"], weight=1.0, kind=FOLLOWED) for link in links)],
        "chain": {**chain, "links": [*chain["links"], *links], "before": state["candidates"]},
    }


async def _read_leaves(state: RetrievalState, turn: Turn) -> list[Chunk]:
    ids = select_leaves(state["candidates"], state["passages"])
    found = await turn.chunks(ids)
    return take_fitting([found[chunk_id] for chunk_id in ids if chunk_id in found], turn.settings.window_tokens)


async def _ask(chat: Chat, leaves: list[Chunk], asked: list[str]) -> list[FoundValue]:
    from anabranch.retrieval.found_value import find_value, names_value

    passages = wrap([(number, "", leaf.text) for number, leaf in enumerate(leaves, start=1)], new_nonce())
    reply = await chat.ask(FOLLOW, f"{passages}\n\nQuestion: {' / '.join(asked)}", max_tokens=80)
    found: dict[str, FoundValue] = {}
    # A reply such as "12." is the number of an item for the reader of queries.
    lines = parse_queries(reply, limit=2 * MAX_VALUES, original="") or [reply[:MAX_QUERY]]
    for line in lines:
        value = find_value(line, leaves)
        # A value that the question has is no news, and would be searched for a second time.
        if value is not None and not any(names_value(each, value.text) for each in asked):
            found.setdefault(value.text, value)
    return list(found.values())[:MAX_VALUES]


def _make_link(chain: Chain, asked: str, value: FoundValue, hop: int) -> Link:
    return Link(
        asked=asked,
        value=value.text,
        chunk_id=value.chunk_id,
        start=value.start,
        end=value.end,
        query=chain["steps"][hop].replace(FOUND, value.text)[:MAX_QUERY],
        hop=hop,
    )


def _end(chain: Chain, reason: str) -> Chain:
    return {**chain, "ended": reason[:MAX_REASON]}

"""A chat model that reads by a pattern, with the slips of real ones: what the program makes of these is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain_core.messages import AIMessage, BaseMessage

from anabranch.safety.prompt_envelope import unwrap
from evals.coverage.made_collection import HIT

REPEATED, MISNUMBERED = 7, 11
"""Of so many lines, one is written twice, and one has a wrong number; each window with hits has an invented one."""

MOST_CHARS = 3_200
"""Room of a reply: about `answer_tokens`, of which it takes no notice itself."""


def list_hits(messages: Sequence[BaseMessage]) -> AIMessage:
    """List every hit that stands in a prompt; some lines twice, some with a wrong number, some made up."""
    rows, _ = unwrap("\n".join(message.text for message in messages))
    reply = "\n".join(_lines(rows)) or "NONE"
    ended = "length" if len(reply) > MOST_CHARS else "stop"
    return AIMessage(reply[:MOST_CHARS], response_metadata={"finish_reason": ended})


def _lines(rows: list[tuple[int, str, str]]) -> Iterator[str]:
    numbers = [number for number, _, _ in rows]
    found = [(number, hit) for number, _, text in rows for hit in HIT.finditer(text)]
    for place, (number, hit) in enumerate(found):
        shown = numbers[(numbers.index(number) + 1) % len(numbers)] if place % MISNUMBERED == 0 else number
        yield from [f"- {hit[1]} | [{shown}] | {hit[0]}"] * (2 if place % REPEATED == 0 else 1)
    if found:
        yield f"- U-99999 | [{numbers[0]}] | Unit U-99999 leaked all over the hall."

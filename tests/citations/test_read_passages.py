"""Passages are read once for a turn, in the pool of the check, while the model writes."""

from __future__ import annotations

import asyncio

from anabranch.citations.check_pool import read_meanwhile
from anabranch.citations.read_passages import PassageMemory, PassageText, passage_text, read
from anabranch.citations.time_limit import TimeLimit

TEXT = "The weir was built by Ada Stern in 1862. It was sold."


def is_read(passage: PassageText) -> bool:
    return "folded" in vars(passage)


def test_the_same_words_are_the_same_passage() -> None:
    one = passage_text("a", TEXT, "Weir")
    assert passage_text("a", TEXT, "Weir") is one
    # Another document may hold the same words under another id, or be called otherwise.
    assert passage_text("b", TEXT, "Weir") is not one
    assert passage_text("a", TEXT, "Mill") is not one
    assert one == PassageText("a", TEXT, "Weir")


def test_no_more_is_kept_than_may_be() -> None:
    memory = PassageMemory(most=100)
    first = memory.passage("a", "x" * 40, "x" * 10)
    second = memory.passage("b", "x" * 40, "x" * 10)
    assert memory.passage("a", "x" * 40, "x" * 10) is first  # asked for last
    memory.passage("c", "x" * 40, "x" * 10)
    assert memory.passage("a", "x" * 40, "x" * 10) is first
    assert memory.passage("b", "x" * 40, "x" * 10) is not second
    long = memory.passage("d", "x" * 101, "")
    assert memory.passage("d", "x" * 101, "") is not long


def test_reading_has_a_limit() -> None:
    passages = [PassageText(str(at), TEXT) for at in range(3)]
    limit = TimeLimit(10)
    limit.stop()
    read(passages, limit)
    assert not any(map(is_read, passages))
    read(passages, TimeLimit(10))
    assert all(map(is_read, passages))


async def test_passages_are_read_while_the_model_writes() -> None:
    passage = PassageText("a", TEXT)
    async with read_meanwhile([passage]):
        while not is_read(passage):
            await asyncio.sleep(0.01)


async def test_nobody_waits_for_what_is_not_read_yet() -> None:
    many = [PassageText(str(at), f"{TEXT} {at}. " * 50) for at in range(2_000)]
    async with read_meanwhile(many):
        pass
    assert not is_read(many[-1])

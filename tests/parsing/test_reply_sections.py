"""Where each line of a reply belongs: the same whatever the pieces, and decided as early as it can be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.parsing import AnswerStream
from anabranch.parsing.reply_sections import Sections

FRAGMENTS = st.sampled_from(
    ["the ", "The", "final", " answer", "Answer", ":", "**", "__", "# ", "> ", "-", "_", " ", "\t", "\n", "not", "NOT",
     " found", "FOUND", "_", "Question", "quotes", "QUOTE", "QUOTES", "S", "supporting ", "EXACT ", "verbatim\u00a0",
     "[1]", "[2, 3] ", '"', "“", "weir", "fınal ", "queſtion", "•", "1. ", ".", "İ", "\r", "\x0b", "relief channel "]
)  # fmt: skip
REPLIES = st.lists(FRAGMENTS, max_size=14).map("".join)
NAMES = ("answer", "quotes", "missing", "echo")


def sorted_out(reply: str, size: int) -> dict[str, str]:
    """Return the sections of a reply that comes in pieces of one size, and what was given out."""
    sections = Sections()
    given_out = [sections.feed(reply[start : start + size]) for start in range(0, len(reply), size)]
    given_out.append(sections.finish())
    return {"given out": "".join(given_out), **{name: sections.text(name) or "" for name in NAMES}}


@settings(max_examples=400)
@given(REPLIES)
def test_the_pieces_do_not_matter(reply: str) -> None:
    whole = sorted_out(reply, 1000)
    assert sorted_out(reply, 1) == whole
    assert sorted_out(reply, 3) == whole


OPENINGS = [
    "Three measures protect the town from floods.",
    "The relief channel of 1961 carries a third of a flood.",
    "Ida Marrow built the weir.",
    "In 1961 the town dug a channel.",
    "**Three** measures protect the town.",
    "- Storage meadows above the weir.",
    "No flood has reached the town since.",
    "Quite often the river floods.",
    "It is not found in the north.",
]


@pytest.mark.parametrize("text", OPENINGS)
def test_the_first_words_are_shown_as_soon_as_they_are_there(text: str) -> None:
    """All but the last word of what came, since that may become an address; two words where one may be a name."""
    stream = AnswerStream()
    shown = [stream.feed(f"{word} ") for word in text.removeprefix("- ").split(" ")[:2]]
    assert "".join(shown) != ""


@pytest.mark.parametrize("name", ["QUOTES:", "Quotes:\n", "NOT FOUND: it", "**QUOTES:**", "Final answer: yes"])
def test_what_may_be_a_name_waits(name: str) -> None:
    stream = AnswerStream()
    assert "".join(map(stream.feed, name[:-1])) == ""


def test_later_lines_are_not_held_either() -> None:
    stream = AnswerStream()
    stream.feed("Three measures protect the town.\n\n")
    assert stream.feed("The answer to floods ") != ""

"""Messages as far as they are written: each known once, whole at the end, and not sent again with every piece."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk

from anabranch_server.message_events import GROWTH, MessageEvents
from anabranch_server.run_request import RunRequest


def pieces(text: str, size: int, known: str = "m") -> list[tuple[AIMessageChunk, dict[str, str]]]:
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    return [(AIMessageChunk(content=each, id=known), {"langgraph_node": "create"}) for each in cut]


def told(events: MessageEvents, *said: tuple[str, Any]) -> list[tuple[str, Any]]:
    return [*(event for each in said for event in events.convert(*each)), *events.flush()]


def test_a_message_grows_to_its_end_and_is_named_once() -> None:
    found = told(MessageEvents(is_whole=True), *(("messages", piece) for piece in pieces("Ida Marrow built it.", 4)))
    assert found[0] == ("messages/metadata", {"m": {"metadata": {"langgraph_node": "create"}}})
    assert {name for name, _ in found[1:]} == {"messages/partial"}
    texts = [message.text for _, (message,) in found[1:]]
    assert (texts[0], texts[-1]) == ("Ida ", "Ida Marrow built it.")
    assert all(type(message) is AIMessage for _, (message,) in found[1:])


def test_what_is_sent_of_a_long_message_grows_with_its_length_and_not_its_square() -> None:
    sent = []
    for length in (20_000, 80_000):
        text = "Ida " * (length // 4)
        found = told(MessageEvents(is_whole=True), *(("messages", piece) for piece in pieces(text, 4)))
        assert found[-1][1][0].text == text
        sent.append(sum(len(message[0].text) for name, message in found if name == "messages/partial"))
    assert sent[1] < 2 * GROWTH * 80_000
    assert sent[1] < 6 * sent[0]


def test_what_waits_is_said_before_anything_else_and_two_messages_are_two() -> None:
    long, other = pieces("x" * 1_000, 1_000)[0], pieces("y", 1)[0]
    after = ("messages", pieces("Other.", 6, known="n")[0])
    said = ("messages", long), ("messages", other), ("values", {"answer": "z"}), ("messages", other), after
    found = [(name, len(payload[0].text) if name == "messages/partial" else 0)
             for name, payload in told(MessageEvents(is_whole=True), *said)]  # fmt: skip
    names = [("messages/metadata", 0), ("messages/partial", 1_000), ("messages/partial", 1_001), ("values", 0)]
    assert found == [*names, ("messages/partial", 1_002), ("messages/metadata", 0), ("messages/partial", 6)]


def test_a_message_that_comes_whole_is_complete() -> None:
    whole = AIMessage("Ida.", id="w")
    found = told(MessageEvents(is_whole=True), ("messages", (whole, {})))
    assert found[1:] == [("messages/complete", [whole])]


def test_pieces_go_on_as_they_come_where_they_are_asked_for() -> None:
    said = [("messages", piece) for piece in pieces("Ida Marrow", 4)]
    assert told(MessageEvents(is_whole=False), *said) == said


@pytest.mark.parametrize(
    ("modes", "is_whole"),
    [(["messages", "values"], True), ("messages", True), (["messages", "messages-tuple"], False), ("values", False)],
)
def test_which_form_is_asked_for(modes: Any, is_whole: bool) -> None:
    asked = RunRequest.model_validate({"input": {"question": "Who?"}, "stream_mode": modes})
    assert asked.has_whole_messages is is_whole
    assert (asked.event_name("messages", ()) == "messages") is ("messages" in str(modes))

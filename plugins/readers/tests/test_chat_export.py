from __future__ import annotations

import json
from pathlib import Path

from tests.readers.read_bytes import documents


def test_a_day_of_a_slack_channel(tmp_path: Path) -> None:
    day = [
        {"type": "message", "user": "U1", "text": "Hi <@U2>, see <https://x.org|this> &amp; that", "ts": "1709287200.0",
         "user_profile": {"real_name": "Ada"}},
        {"type": "message", "user": "U2", "text": "ok", "ts": "1709287260.0", "user_profile": {"display_name": "Bób"}},
    ]  # fmt: skip
    (document,) = documents(tmp_path, "general/2024-03-01.json", json.dumps(day))
    assert document.title == "#general 2024-03-01"
    assert [block.text for block in document.blocks] == [
        "[2024-03-01 10:00] Ada: Hi @Bób, see this & that",
        "[2024-03-01 10:01] Bób: ok",
    ]
    assert document.metadata == {"format": "slack", "channel": "general", "people": ["Ada", "Bób"]}


def node(text: str, role: str, parent: str | None) -> dict[str, object]:
    return {"message": {"author": {"role": role}, "content": {"parts": [text]}}, "parent": parent, "children": []}


def test_a_chat_is_the_branch_that_was_seen_last(tmp_path: Path) -> None:
    mapping = {
        "r": {"message": None, "parent": None}, "a": node("What is it?", "user", "r"),
        "x": node("old", "assistant", "a"),
        "b": node("A pump.\n\nYes.", "assistant", "a"), "s": node("hidden", "system", "r"),
    }  # fmt: skip
    chat = {"title": "Pumps", "id": "c1", "create_time": 1709287200.5, "current_node": "b", "mapping": mapping}
    (document,) = documents(tmp_path, "conversations.json", json.dumps([chat]))
    assert (document.source, document.title) == ("conversations.json#c1", "Pumps")
    assert [block.text for block in document.blocks] == ["User: What is it?", "Assistant: A pump.", "Yes."]
    assert document.metadata == {"format": "chat", "date": "2024-03-01 10:00"}


def test_parents_in_a_ring_end(tmp_path: Path) -> None:
    mapping = {"a": node("one", "user", "b"), "b": node("two", "user", "a")}
    chat = {"title": "Ring", "current_node": "a", "mapping": mapping}
    (document,) = documents(tmp_path, "conversations.json", json.dumps([chat]))
    assert [block.text for block in document.blocks] == ["User: two", "User: one"]


def test_chats_of_claude(tmp_path: Path) -> None:
    chat = {"uuid": "u1", "name": "Talk", "chat_messages": [{"sender": "human", "text": "Hello"}]}
    (document,) = documents(tmp_path, "conversations.json", json.dumps([chat]))
    assert (document.source, document.blocks[0].text) == ("conversations.json#u1", "Human: Hello")

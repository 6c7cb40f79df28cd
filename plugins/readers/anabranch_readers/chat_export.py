"""Conversations as their services export them in JSON: a day of a Slack channel, ChatGPT's and Claude's chats."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

from anabranch.readers.document import Block, Document
from anabranch.readers.json_records import JsonRecord
from anabranch.readers.plain_text import paragraphs
from anabranch.text.normalization import clean, squeeze

_REFERENCE = re.compile(r"<([@#!]?)([^|<>\s]*)(?:\|([^<>]*))?>")
_LONGEST_CHAT = 100_000  # messages: `parent` may lead round in a ring


def chat_documents(records: Sequence[JsonRecord], source: str) -> Iterator[Document] | None:
    """Return the documents of an export, None where the records are none of those known."""
    if all(each.get("type") == "message" and "ts" in each for each in records):
        return iter([_slack_day(records, source)])
    if all(isinstance(each.get("mapping"), dict) and "title" in each for each in records):
        return (_chat(each, source, at, _chatgpt(each)) for at, each in enumerate(records, 1))
    if all(isinstance(each.get("chat_messages"), list) for each in records):
        return (_chat(each, source, at, _claude(each)) for at, each in enumerate(records, 1))
    return None


def _slack_day(messages: Sequence[JsonRecord], source: str) -> Document:
    """Return the messages of a channel's day; the folder that the file is in is called as the channel is."""
    names = {str(each.get("user")): name for each in messages if (name := _slack_name(each))}
    blocks = []
    for message in sorted(messages, key=lambda each: _number(each["ts"])):
        text = squeeze(_slack_text(str(message.get("text") or ""), names))
        user = str(message.get("user") or "")
        name = _slack_name(message) or names.get(user) or str(message.get("username") or user)
        if text:
            blocks.append(Block(f"[{_moment(message['ts'])}] {f'{name}: ' * bool(name)}{text}"))
    place = PurePosixPath(source)
    title = " ".join(filter(None, (f"#{place.parent.name}" * bool(place.parent.name), place.stem)))
    facts = {"format": "slack", "channel": place.parent.name, "people": sorted(set(names.values()))}
    metadata = {name: value for name, value in facts.items() if value}
    return Document(source, title, tuple(blocks), metadata, key=source)


def _slack_name(message: JsonRecord) -> str:
    profile = message.get("user_profile")
    given = (profile.get("display_name") or profile.get("real_name")) if isinstance(profile, dict) else ""
    return squeeze(str(given or ""))


def _slack_text(text: str, names: Mapping[str, str]) -> str:
    def resolve(found: re.Match[str]) -> str:
        sign, target, label = found.groups()
        if sign == "@":
            return f"@{label or names.get(target, target)}"
        return f"{sign if sign == '#' else ''}{label or target}"

    return html.unescape(clean(_REFERENCE.sub(resolve, text)))


def _chatgpt(chat: JsonRecord) -> Iterator[tuple[str, str]]:
    """Yield who says what, along the branch that the person was on last."""
    nodes = {key: node for key, node in chat["mapping"].items() if isinstance(node, dict)}
    at = chat.get("current_node")
    if at not in nodes:  # older exports name none: then the one that nothing follows
        at = next((key for key, node in reversed(nodes.items()) if not node.get("children")), None)
    branch: list[JsonRecord] = []
    while at in nodes and len(branch) < _LONGEST_CHAT:
        branch.append(nodes[at])
        at = nodes.pop(at).get("parent")
    for node in reversed(branch):
        message = node.get("message") or {}
        role = (message.get("author") or {}).get("role", "")
        parts = (message.get("content") or {}).get("parts") or []
        if role in {"user", "assistant"}:
            yield role, "\n\n".join(part for part in parts if isinstance(part, str))


def _claude(chat: JsonRecord) -> Iterator[tuple[str, str]]:
    for message in chat["chat_messages"]:
        if isinstance(message, dict):
            yield str(message.get("sender") or ""), str(message.get("text") or "")


def _chat(chat: JsonRecord, source: str, number: int, turns: Iterator[tuple[str, str]]) -> Document:
    title = squeeze(clean(str(chat.get("title") or chat.get("name") or ""))) or f"Conversation {number}"
    key = str(chat.get("id") or chat.get("conversation_id") or chat.get("uuid") or number)
    blocks = []
    for speaker, text in turns:
        first, *rest = paragraphs(clean(text)) or [""]
        blocks += [Block(f"{speaker.capitalize()}: {first}"), *map(Block, rest)] if first else []
    moment = chat.get("create_time")
    facts = {"format": "chat", "date": _moment(moment) if moment else str(chat.get("created_at") or "")}
    metadata = {name: value for name, value in facts.items() if value}
    name = f"{source}#{squeeze(key)}"
    return Document(name, title, tuple(blocks) or (Block(title),), metadata, key=name)


def _moment(seconds: object) -> str:
    try:
        return datetime.fromtimestamp(_number(seconds), UTC).isoformat(" ", "minutes").removesuffix("+00:00")
    except (ValueError, OverflowError, OSError):
        return ""


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0

"""Reads a model's revision of an answer after further passages: no change, an addition, or a new answer."""

from __future__ import annotations

import re
from typing import Literal

from anabranch.parsing.answer_reply import MARKER, read_answer
from anabranch.parsing.refusal import is_refusal
from anabranch.text.sentences import spans

Action = Literal["keep", "add", "revise"]

_KEEP = re.compile(r"\W*(?:keep|none|nothing|no (?:changes?|new information))\b\W*", re.IGNORECASE)
_LABEL = re.compile(r"\W*(?:add|revise|keep)\W*[:\n]\s*", re.IGNORECASE)
_LEADING = re.compile(r"\s*(?:\[\d+\]\s*)+")
_BEFORE_STOP = re.compile(r"(?<!\s)\s++(?=[.,;:!?…])")
_ENDS = re.compile(r"[.!?…:。！？।؟][\"'”’)\]]*(?:\s*\[\d+\])*$")  # stops of other scripts
_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s")
_ROW = re.compile(r"\s*\|")
_AROUND = " \t\n.,;:!?…-*•_"


def read_revision(reply: str, previous: str) -> tuple[Action, str]:
    """Read a reply to "write what is new, or KEEP".

    Args:
        reply: Anything a model wrote.
        previous: The answer so far.

    Returns:
        `keep` and nothing; `add` and the new sentences; or `revise` and the whole reply, if it repeats some sentences
        of the answer and leaves out others. Never raises.
    """
    text = read_answer(reply)
    if label := _LABEL.match(text):
        text = text[label.end() :]
    # A refusal of the new passages does not invalidate the answer so far.
    if is_refusal(MARKER.sub("", text)) or not text.strip() or _KEEP.fullmatch(text):
        return "keep", ""
    known, keys = _list_keys(previous), _list_keys(text)
    new = _new_sentences(previous, text)
    if not new:
        return "keep", ""
    return ("revise", text.strip()) if known & keys and known - keys else ("add", new)


def _new_sentences(previous: str, addition: str) -> str:
    """Return the sentences of a text that an answer does not have yet."""
    there = _list_keys(previous)
    new = []
    for sentence in _sentences(addition):
        key = _key(sentence)
        if key and key not in there:
            there.add(key)
            new.append(sentence)
    return "".join(new).strip()


def append_text(previous: str, more: str) -> str:
    """Return an answer with an addition: lists and tables continue, other blocks are separated."""
    before = previous.rstrip()
    return before + _choose_gap(before, more) + more


def _list_keys(text: str) -> set[str]:
    return {key for sentence in _sentences(text) if (key := _key(sentence))}


def _sentences(text: str) -> list[str]:
    """Split a text; markers after a full stop belong to the sentence before."""
    cuts = [0]
    for start, end in spans(text)[1:]:
        marks = _LEADING.match(text, start, end)
        cuts.append(marks.end() if marks else start)
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _key(sentence: str) -> str:
    """Return a sentence in comparable form, without markers; signs within it count: "-5" is not "5"."""
    plain = " ".join(MARKER.sub(" ", sentence).casefold().split())
    return _BEFORE_STOP.sub("", plain).rstrip(_AROUND).removeprefix("- ").removeprefix("* ").strip()


def _choose_gap(before: str, after: str) -> str:
    # A blank line would end a table, and separate the items of a list.
    last, first = before.rpartition("\n")[2], after.partition("\n")[0]
    if any(kind.match(last) and kind.match(first) for kind in (_ITEM, _ROW)):
        return "\n"
    if "\n" in before or "\n" in after or _ITEM.match(last) or _ITEM.match(first):
        return "\n\n"
    return " " if _ENDS.search(before) else "\n"

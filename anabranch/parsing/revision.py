"""Reads what a model made of an answer when it was shown further passages: nothing, more of it, or it anew."""

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
        `keep` and nothing; `add` and those of its sentences that the answer does not have; `revise` and the whole reply
        where it repeats a sentence of the answer and leaves out another. Never raises.
    """
    text = read_answer(reply)
    if label := _LABEL.match(text):
        text = text[label.end() :]
    # A refusal of the new passages is no reason to give up what the former ones said.
    if is_refusal(MARKER.sub("", text)) or not text.strip() or _KEEP.fullmatch(text):
        return "keep", ""
    known, said = _said(previous), _said(text)
    new = _new_sentences(previous, text)
    if not new:
        return "keep", ""
    return ("revise", text.strip()) if known & said and known - said else ("add", new)


def _new_sentences(previous: str, addition: str) -> str:
    """Return the sentences of a text that an answer does not have yet."""
    there = _said(previous)
    new = []
    for sentence in _sentences(addition):
        key = _key(sentence)
        if key and key not in there:
            there.add(key)
            new.append(sentence)
    return "".join(new).strip()


def appended(previous: str, more: str) -> str:
    """Return an answer with more behind it: a list and a table go on, other blocks stand by themselves."""
    before = previous.rstrip()
    return before + _gap(before, more) + more


def _said(text: str) -> set[str]:
    return {key for sentence in _sentences(text) if (key := _key(sentence))}


def _sentences(text: str) -> list[str]:
    """Split a text; markers behind a full stop belong to the sentence before."""
    cuts = [0]
    for start, end in spans(text)[1:]:
        marks = _LEADING.match(text, start, end)
        cuts.append(marks.end() if marks else start)
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _key(sentence: str) -> str:
    """Return what a sentence says, whatever it cites; signs within it count, "-5" is not "5"."""
    plain = " ".join(MARKER.sub(" ", sentence).casefold().split())
    return _BEFORE_STOP.sub("", plain).rstrip(_AROUND).removeprefix("- ").removeprefix("* ").strip()


def _gap(before: str, after: str) -> str:
    # A blank line would end a table, and set the items of a list apart.
    last, first = before.rpartition("\n")[2], after.partition("\n")[0]
    if any(kind.match(last) and kind.match(first) for kind in (_ITEM, _ROW)):
        return "\n"
    if "\n" in before or "\n" in after or _ITEM.match(last) or _ITEM.match(first):
        return "\n\n"
    return " " if _ENDS.search(before) else "\n"

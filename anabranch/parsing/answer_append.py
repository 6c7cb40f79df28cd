"""Puts new sentences behind an answer, which stays as it is."""

from __future__ import annotations

import re

from anabranch.parsing.refusal import MARKER
from anabranch.text.sentences import spans

_LEADING = re.compile(r"\s*(?:\[\d+\]\s*)+")
_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?…])")
_ENDS = re.compile(r"[.!?…:。！？।؟][\"'”’)\]]*(?:\s*\[\d+\])*$")  # stops of other scripts
_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s")
_ROW = re.compile(r"\s*\|")
_AROUND = " \t\n.,;:!?…-*•_"


def is_anew(answer: str, previous: str) -> bool:
    """Tell whether an answer is the previous one written anew, not only more of it: all that was cited still is.

    Passages have one number each through all windows, so what is added cites others. Where nothing was cited, sentences
    tell.
    """
    cited = set(MARKER.findall(previous))
    return cited <= set(MARKER.findall(answer)) if cited else bool(_said(previous) & _said(answer))


def with_more(previous: str, addition: str) -> str | None:
    """Return an answer with those sentences of the addition behind it that it does not have yet.

    Args:
        previous: The answer; all of it stays, white space at its end aside.
        addition: New sentences, maybe after the answer once more.

    Returns:
        Both, or None where the addition has nothing new.
    """
    there = _said(previous)
    new = []
    for sentence in _sentences(addition):
        key = _key(sentence)
        if key and key not in there:
            there.add(key)
            new.append(sentence)
    more = "".join(new).strip()
    return previous.rstrip() + _gap(previous.rstrip(), more) + more if more else None


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
    """Return what parts two pieces of an answer: a list and a table go on, other blocks stand by themselves."""
    last, first = before.rpartition("\n")[2], after.partition("\n")[0]
    if any(kind.match(last) and kind.match(first) for kind in (_ITEM, _ROW)):
        return "\n"
    if "\n" in before or "\n" in after or _ITEM.match(last) or _ITEM.match(first):
        return "\n\n"
    return " " if _ENDS.search(before) else "\n"

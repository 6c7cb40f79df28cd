"""Drops what is no part of a reply: what reasoning models think aloud, and passages that a model repeats."""

from __future__ import annotations

import re

_THOUGHT = r"think|thinking|reasoning"
_PASSAGE = r"passages-[0-9a-f]{16}"
# The end of a passage that never began says nothing but its nonce, and takes nothing with it.
_BEGIN = re.compile(rf"<(?:(?:{_THOUGHT})>|{_PASSAGE}\b)|(?P<stray></{_PASSAGE}>)", re.IGNORECASE)
_END = re.compile(rf"</(?:{_THOUGHT}|{_PASSAGE})>", re.IGNORECASE)
_THOUGHT_END = re.compile(rf"</(?:{_THOUGHT})>", re.IGNORECASE)
_LONGEST_TAG = len("</passages-0123456789abcdef>")
# No longer than a tag: what is longer cannot become one, and is shown at once.
_UNFINISHED = re.compile(rf"<[/a-z0-9-]{{0,{_LONGEST_TAG - 2}}}\Z", re.IGNORECASE)


class ThinkingFilter:
    """Leaves out the blocks of a text that comes in pieces; one that is never closed runs to the end."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, piece: str) -> str:
        """Take the next piece, return what is part of the reply."""
        self._held += piece
        return self._advance(_UNFINISHED.search(self._held))

    def finish(self) -> str:
        """Return what was held back."""
        return self._advance(None)

    def _advance(self, waiting: re.Match[str] | None) -> str:
        shown: list[str] = []
        end = waiting.start() if waiting else len(self._held)
        start = 0
        while found := (_END if self._inside else _BEGIN).search(self._held, start, end):
            if self._inside:
                self._inside = False
            else:
                shown.append(self._held[start : found.start()])
                self._inside = found["stray"] is None
            start = found.end()
        if not self._inside:
            shown.append(self._held[start:end])
        self._held = self._held[end:]
        return "".join(shown)


def drop_thinking(reply: str) -> str:
    """Return a reply without its `<think>` blocks, and without the passages of the prompt in their envelopes.

    A block that is never closed runs to the end. The end of a thought without a beginning closes one that the chat
    template opened, so everything before it goes too.

    Args:
        reply: Anything a model wrote.
    """
    thinking = ThinkingFilter()
    text = thinking.feed(reply) + thinking.finish()
    ends = list(_THOUGHT_END.finditer(text))
    return text[ends[-1].end() :] if ends else text

"""Removes the thoughts of reasoning models, and repeated passages, from a reply."""

from __future__ import annotations

import re

_THOUGHT = r"think|thinking|reasoning"
_PASSAGE = r"passages-[0-9a-f]{16}"
# A closing tag without an opening one is removed alone.
_BEGIN = re.compile(rf"<(?:(?:{_THOUGHT})>|{_PASSAGE}\b)|(?P<stray></{_PASSAGE}>)", re.IGNORECASE)
_END = re.compile(rf"</(?:{_THOUGHT}|{_PASSAGE})>", re.IGNORECASE)
_THOUGHT_END = re.compile(rf"</(?:{_THOUGHT})>", re.IGNORECASE)
_LONGEST_TAG = len("</passages-0123456789abcdef>")
# No longer than a tag, so that longer text is shown at once.
_UNFINISHED = re.compile(rf"<[/a-z0-9-]{{0,{_LONGEST_TAG - 2}}}\Z", re.IGNORECASE)


class ThinkingFilter:
    """Removes such blocks from a text that comes in pieces; a block that is never closed runs to the end."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, piece: str) -> str:
        """Take the next piece; return what can be shown."""
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

    A block that is never closed runs to the end. A closing tag alone ends a thought that the chat template opened, so
    everything before it is removed, too.

    Args:
        reply: Anything a model wrote.
    """
    thinking = ThinkingFilter()
    text = thinking.feed(reply) + thinking.finish()
    ends = list(_THOUGHT_END.finditer(text))
    return text[ends[-1].end() :] if ends else text

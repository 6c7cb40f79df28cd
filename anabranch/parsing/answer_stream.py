"""Streams an answer while the model still writes it, without the rest of the reply."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.parsing.answer_reply import ENGLISH_LABEL, MAX_REPLY_READ, read_answer
from anabranch.parsing.reasoning_blocks import ThinkingFilter
from anabranch.safety.link_removal import LinkFilter
from anabranch.safety.prompt_leak import InstructionFilter, without_instructions

# The labels of ENGLISH_LABEL, to recognise their beginnings.
_LABELS = ("answer:", "final answer:")


class AnswerStream:
    """Takes the pieces of a reply, and returns what can be shown at once.

    Together, the shown pieces are `read_answer(reply)`, except trailing white space. Thoughts and unfinished links are
    never shown, and the shown text is harmless at any moment (`strip_links`). Only a little is held back: the first
    words, an unfinished link, or words of the instructions. Two kinds of replies end early: those that repeat the
    instructions in the middle of a sentence, and those that close a thought without opening it.
    """

    def __init__(self, *, instructions: Sequence[str] = (), given: Sequence[str] = ()) -> None:
        """Begin.

        Args:
            instructions: The instructions to the model, which are no part of an answer.
            given: Passages and question, which an answer may repeat.
        """
        self._instructions, self._given = instructions, given
        self._leaks = InstructionFilter(instructions, given)
        self._thinking = ThinkingFilter()
        self._links = LinkFilter()
        self._reply: list[str] = []
        self._room = MAX_REPLY_READ
        self._start: str | None = ""
        self._white = ""
        self._shown = ""

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply; return what can be shown now, often nothing."""
        # With the limit of `read_answer`, so that the shown text is the beginning of the answer.
        piece = delta[: self._room]
        self._room -= len(piece)
        self._reply.append(piece)
        text = self._drop_label(self._thinking.feed(piece))
        shown = self._leaks.feed(self._links.feed(self._trim_end(text)) if text else "")
        if not self._shown:
            shown = shown.lstrip()  # a removed picture may have been before the white space
        self._shown += shown
        return shown

    def finish(self) -> str:
        """Return the rest of the checked answer, if the shown text is its beginning."""
        answer, _ = without_instructions(read_answer("".join(self._reply)), self._instructions, self._given)
        # Otherwise the checked answer replaces the shown text.
        return answer[len(self._shown) :] if answer.startswith(self._shown) else ""

    def _drop_label(self, text: str) -> str:
        """Hold back the first words until it is clear whether they are a label, such as "Answer:"."""
        if self._start is None:
            return text
        self._start = (self._start + text).lstrip()
        plain = " ".join(self._start.replace("*", "").casefold().split())
        if any(label.startswith(plain) for label in _LABELS):
            return ""
        label = ENGLISH_LABEL.match(self._start)
        shown, self._start = self._start[label.end() if label else 0 :], None
        return shown

    def _trim_end(self, text: str) -> str:
        """Hold back white space, which may be at the end of the answer."""
        text = self._white + text
        kept = text.rstrip()
        self._white = text[len(kept) :]
        return kept

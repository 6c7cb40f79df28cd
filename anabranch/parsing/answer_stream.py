"""Shows an answer while the model still writes it, and nothing else of its reply."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.parsing.answer_reply import ENGLISH_LABEL, MAX_REPLY_READ, read_answer
from anabranch.parsing.reasoning_blocks import ThinkingFilter
from anabranch.safety.link_removal import LinkFilter
from anabranch.safety.prompt_leak import InstructionFilter, without_instructions

# What ENGLISH_LABEL matches, as words whose beginning can be recognised.
_LABELS = ("answer:", "final answer:")


class AnswerStream:
    """Takes a reply as it arrives and gives out what a reader may see of it at once.

    Whatever the pieces, together they are `read_answer(reply).answer`, trailing white space aside. Thoughts and
    unfinished links are never shown, and what a reader has at any moment is harmless in a page (`strip_links`). What is
    held back is short: the first words, an unfinished link, or what may become a repetition of the instructions. Two
    replies end before their end: one that repeats the instructions in the middle of a sentence, and one with a thought
    that is closed and was never opened, which cannot be told from an answer before.
    """

    def __init__(self, *, told: Sequence[str] = (), given: Sequence[str] = ()) -> None:
        """Begin.

        Args:
            told: The instructions, which are no part of an answer.
            given: Passages and question, whose words are, whatever the instructions say.
        """
        self._told, self._given = told, given
        self._instructions = InstructionFilter(told, given)
        self._thinking = ThinkingFilter()
        self._links = LinkFilter()
        self._reply: list[str] = []
        self._room = MAX_REPLY_READ
        self._start: str | None = ""
        self._white = ""
        self._shown = ""

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply; return what can be shown now, often nothing."""
        # Bounded as in `read_answer`, or what was shown would not be the beginning of the answer.
        piece = delta[: self._room]
        self._room -= len(piece)
        self._reply.append(piece)
        text = self._begun(self._thinking.feed(piece))
        shown = self._instructions.feed(self._links.feed(self._trimmed(text)) if text else "")
        if not self._shown:
            shown = shown.lstrip()  # what stood before the white space may have been a picture
        self._shown += shown
        return shown

    def finish(self) -> str:
        """Return what is left of the checked answer, where what was shown is the beginning of it."""
        answer, _ = without_instructions(read_answer("".join(self._reply)), self._told, self._given)
        # Otherwise the checked answer takes the place of what was shown, and there is no rest of it.
        return answer[len(self._shown) :] if answer.startswith(self._shown) else ""

    def _begun(self, text: str) -> str:
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

    def _trimmed(self, text: str) -> str:
        """Keep back what may be white space after the answer."""
        text = self._white + text
        kept = text.rstrip()
        self._white = text[len(kept) :]
        return kept

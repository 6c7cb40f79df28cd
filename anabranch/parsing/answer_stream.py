"""Shows an answer while the model still writes it, and nothing else of its reply."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anabranch.parsing.answer_reply import JSON_BEGINNING, PREAMBLE, split_answer
from anabranch.parsing.json_repair import MAX_REPLY
from anabranch.parsing.reasoning_blocks import ThinkingFilter
from anabranch.parsing.reply_sections import Sections
from anabranch.safety.link_removal import LinkFilter
from anabranch.safety.prompt_leak import InstructionFilter, without_instructions

_FENCE = r"(?:`{0,3}|```j(?:s(?:on?)?)?|```(?:json)?\s*)"
_MAYBE_JSON = re.compile(rf"\s*(?:{_FENCE}|{PREAMBLE}(?:\n\s*{_FENCE})?)\Z", re.IGNORECASE)
_OPENERS = ("sure", "certainly", "of course", "okay", "here", "below")


class AnswerStream:
    """Takes a reply as it arrives and gives out what a reader may see of it at once.

    Whatever the pieces, together they are `split_answer(reply).answer`, trailing white space aside. Quotes, NOT FOUND,
    thoughts and unfinished links are never shown, and what a reader has at any moment is harmless in a page
    (`strip_links`). What is held back is short: the first words of a line, an unfinished link, or what may become a
    repetition of the instructions. A reply in JSON is shown at its end. Two replies end before their end: one that
    repeats the instructions in the middle of a sentence, and one with a thought that is closed and was never opened,
    which cannot be told from an answer before.
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
        self._sections = Sections()
        self._links = LinkFilter()
        self._reply: list[str] = []
        self._room = MAX_REPLY
        self._start = ""
        self._mode = "open"
        self._white = ""
        self._begun = False
        self._shown = ""

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply; return what can be shown now, often nothing."""
        piece = delta[: self._room]
        self._room -= len(piece)
        self._reply.append(piece)
        shown = self._instructions.feed(self._advance(self._thinking.feed(piece)))
        if not self._shown:
            shown = shown.lstrip()  # what stood before the white space may have been a picture
        self._shown += shown
        return shown

    def finish(self) -> str:
        """Return what is left of the checked answer, where what was shown is the beginning of it."""
        answer, _ = without_instructions(split_answer("".join(self._reply)).answer, self._told, self._given)
        return answer[len(self._shown) :] if answer.startswith(self._shown) else ""

    def _advance(self, text: str) -> str:
        if self._mode != "text":
            self._start += text
            text = self._text_begun()
        return self._links.feed(self._trimmed(self._sections.feed(text))) if text else ""

    def _text_begun(self) -> str:
        """Return the beginning once it is clear that the reply is text, not JSON."""
        if self._mode == "open" and JSON_BEGINNING.match(self._start):
            self._mode = "json"
        elif self._mode == "open" and not _may_become_json(self._start):
            self._mode = "text"
        if self._mode != "text":
            return ""
        text, self._start = self._start, ""
        return text

    def _trimmed(self, text: str) -> str:
        """Leave out white space before the answer, and keep back what may be white space after it."""
        text = self._white + text
        if not self._begun:
            text = text.lstrip()
        kept = text.rstrip()
        self._white = text[len(kept) :]
        self._begun = self._begun or bool(kept)
        return kept


def _may_become_json(start: str) -> bool:
    """Tell whether the beginning of a reply leaves it open that it is JSON, perhaps after a friendly line."""
    word = start.lstrip().casefold()
    return bool(_MAYBE_JSON.match(start)) or any(opener.startswith(word) for opener in _OPENERS)

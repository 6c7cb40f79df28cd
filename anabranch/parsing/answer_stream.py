"""Shows an answer while the model still writes it, and nothing else of its reply."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anabranch.parsing.answer_reply import JSON_BEGINNING, PREAMBLE, split_answer
from anabranch.parsing.json_repair import MAX_REPLY
from anabranch.parsing.reasoning_blocks import ThinkingFilter
from anabranch.parsing.reply_sections import Sections
from anabranch.safety.link_removal import LinkFilter
from anabranch.safety.prompt_leak import without_instructions
from anabranch.safety.prompt_leak_stream import InstructionFilter

_FENCE = r"(?:`{0,3}|```j(?:s(?:on?)?)?|```(?:json)?\s*)"
_MAYBE_JSON = re.compile(rf"\s*(?:{_FENCE}|{PREAMBLE}(?:\n\s*{_FENCE})?)\Z", re.IGNORECASE)
_OPENERS = ("sure", "certainly", "of course", "okay", "here", "below")


class AnswerStream:
    """Takes a reply as it arrives and gives out what a reader may see of it at once.

    Whatever the pieces, together they are `split_answer(reply).answer`, trailing white space aside (save for a thought
    that is closed and was never opened: it cannot be told from an answer before it ends). Quotes, NOT FOUND, thoughts
    and unfinished links are never shown, and what a reader has at any moment is harmless in a page (`strip_links`).
    What is held back is short: the first words of a line, an unfinished link, or what may become a repetition of the
    instructions. A reply in JSON is shown at its end.
    """

    def __init__(self, *, told: Sequence[str] = (), given: Sequence[str] = ()) -> None:
        """Hide what is told, see `InstructionFilter`."""
        self._told, self._given = told, given
        self._instructions = InstructionFilter(told, given)
        self._thinking = ThinkingFilter()
        self._sections = Sections()
        self._links = LinkFilter()
        # What the instructions leave out makes neighbours of what was none.
        self._joined = LinkFilter()
        self._reply: list[str] = []
        self._room = MAX_REPLY
        self._start = ""
        self._mode = "open"
        self._white = ""
        self._shown = False
        self._seen = False

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply; return what can be shown now, often nothing."""
        piece = delta[: self._room]
        self._room -= len(piece)
        self._reply.append(piece)
        return self._begin(self._joined.feed(self._instructions.feed(self._advance(self._thinking.feed(piece)))))

    def finish(self) -> str:
        """Return what was held back."""
        shown = self._advance(self._thinking.finish())
        if self._mode == "text":
            shown += self._links.feed(self._trimmed(self._sections.finish())) + self._links.finish()
        if self._shown:
            shown = self._instructions.feed(shown) + self._instructions.finish()
            return self._begin(self._joined.feed(shown) + self._joined.finish())
        # It was JSON, or the answer stood where none was expected.
        return without_instructions(split_answer("".join(self._reply)).answer, self._told, self._given)[0]

    def _begin(self, text: str) -> str:
        """Leave out white space before the first word; what stood before it may have been a picture."""
        text = text if self._seen else text.lstrip()
        self._seen = self._seen or bool(text)
        return text

    def _advance(self, text: str) -> str:
        if self._mode != "text":
            self._start += text
            text = self._begun()
        return self._links.feed(self._trimmed(self._sections.feed(text))) if text else ""

    def _begun(self) -> str:
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
        if not self._shown:
            text = text.lstrip()
        kept = text.rstrip()
        self._white = text[len(kept) :]
        self._shown = self._shown or bool(kept)
        return kept


def _may_become_json(start: str) -> bool:
    """Tell whether the beginning of a reply leaves it open that it is JSON, perhaps after a friendly line."""
    word = start.lstrip().casefold()
    return bool(_MAYBE_JSON.match(start)) or any(opener.startswith(word) for opener in _OPENERS)

r"""Makes what a model wrote harmless to show: no link, no picture, no HTML, no invisible character, no nonce.

An answer that was steered by an instruction inside a passage could carry what it read to a stranger's server in the
address of a picture (the EchoLeak class of attack), so nothing that a Markdown renderer would make a link, a picture or
a tag of leaves, with raw HTML switched on or off.

Three passes, each over what the one before left:

1. Entities become the characters that they stand for, and what nobody can see goes, as it does in documents.
2. Links are reduced to their text, pictures go, addresses are replaced. This is for the reader; it recognises what it
   knows and guarantees nothing.
3. A blank breaks whatever could still be live: `](`, `]:` (no definition without it), a `<` before anything that can
   begin a tag or an autolink, an entity, `://`, `//host`, `www.`. This is the guarantee. It tells no good tags from bad
   ones and needs not know where a line, a quotation or a block of code begins, on which renderers differ; a blank
   reads right in all of them (`vector< int>`), and any beginning of a text that is clean is clean as well.

Citation markers such as [1] or [2][3] stay. Whatever is looked for has a largest length, so that a streamed answer
holds back only a little.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from html.entities import html5

from anabranch.safety.prompt_envelope import is_nonce
from anabranch.text.normalization import visible

REMOVED = "[link removed]"
NO_NONCE = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for the nonce of an envelope; nothing joins with it."""

_CONTEXT = 8
"""Characters that a pass looks back at, and more."""

_ENTITY = r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{0,31});"
_HALF_ENTITY = r"&#?[a-z0-9]{0,32}\Z"

_TEXT = r"(?:[^\[\]\n]|\[[^\[\]\n]{0,80}+\]){0,200}+"
_TARGET = r"(?:[^()\n]|\([^()\n]{0,100}+\)){0,400}+"
# The same, not possessive: before Python 3.11.5 a possessive group goes wrong where its last round fails (gh-106052).
_HALF_TEXT, _HALF_TARGET = _TEXT.removesuffix("+"), _TARGET.removesuffix("+")
_ADDRESS = r"[!#-;=?-\[\\^_a-~]*"
_SCHEME = r"[a-z][a-z0-9+.-]{0,29}"
_AUTO = r"<(?:https?|ftp|mailto|javascript|vbscript|data|file):[^<>\s]{0,400}"
# A browser takes any number of slashes, either way round, after these (WHATWG URL: special schemes). A backslash may
# stand before a sign without being seen.
_SPECIAL = r"(?:https?|ftp|wss?|file)"
_WWW = r"(?<![^\W_])www(?=\\?\.[a-z0-9])"
_HALF_WWW = r"(?<![^\W_])ww?w?\\?\.?\Z"
_BEGINS_ADDRESS = rf"(?:{_SCHEME}\\?:\\?/\\?/|{_SPECIAL}\\?:[/\\]|{_WWW})"

_LOCAL = r"[a-z0-9.!#$%&'*+/=?^_`{|}~-]"
"""What may stand before the @ of an address in angle brackets."""
_AFTER_SPECIAL = r"(?:(?<=http)|(?<=https)|(?<=ftp)|(?<=ws)|(?<=wss)|(?<=file))"

_NUMBERS = re.compile(r"\[?\s*\d+(?:\s*,\s*\d+)*\s*\]?")
_ADDRESS_MARK = re.compile(r"[/:.#?@%]")
_TITLED = re.compile(r"\s*<?[^\s<>]*>?(?:\s+[\"'(].*)?\s*", re.DOTALL)


def strip_links(text: str) -> str:
    """Return text that shows the same in every Markdown renderer and leads nowhere.

    Args:
        text: Markdown of any origin.

    Returns:
        The text without links, pictures, HTML and invisible characters; doing it again changes nothing, and each
        beginning of it is as harmless. Never raises.
    """
    for rule in _RULES:
        text = rule.whole(text)
    return text


class LinkFilter:
    """`strip_links` for text that comes in pieces: what may be the beginning of a link waits for the rest."""

    def __init__(self) -> None:
        self._passes = [_Pass(rule) for rule in _RULES]

    def feed(self, piece: str) -> str:
        """Take the next piece, return what can be shown now."""
        for each in self._passes:
            piece = each.feed(piece)
        return piece

    def finish(self) -> str:
        """Return what was held back."""
        shown = ""
        for each in self._passes:
            # What one pass held back has to go through those after it.
            shown = each.feed(shown) + each.finish()
        return shown


@dataclass(frozen=True, slots=True)
class _Rule:
    """What one pass looks for, what may still become that when more text comes, and what it puts in its place."""

    found: re.Pattern[str]
    unfinished: re.Pattern[str]
    replacement: Callable[[re.Match[str]], str]

    def whole(self, text: str) -> str:
        return self.found.sub(self.replacement, text)


class _Pass:
    """Applies a rule to text that comes in pieces."""

    def __init__(self, rule: _Rule) -> None:
        self._rule = rule
        self._text = ""
        self._done = 0

    def feed(self, piece: str) -> str:
        self._text += piece
        return self._show(self._settled())

    def finish(self) -> str:
        return self._show(len(self._text))

    def _settled(self) -> int:
        """Return up to where nothing can change any more, whatever comes next."""
        waiting = self._rule.unfinished.search(self._text, self._done)
        for match in self._rule.found.finditer(self._text, self._done):
            if not waiting or waiting.start() <= match.start():
                break
            if waiting.start() < match.end():
                waiting = self._rule.unfinished.search(self._text, match.end())
        return waiting.start() if waiting else len(self._text)

    def _show(self, end: int) -> str:
        parts: list[str] = []
        start = self._done
        for match in self._rule.found.finditer(self._text, start):
            if match.start() >= end:
                break
            parts += [self._text[start : match.start()], self._rule.replacement(match)]
            start = match.end()
        parts.append(self._text[start:end])
        # Patterns look behind them, at what was shown already.
        keep = max(end - _CONTEXT, 0)
        self._text, self._done = self._text[keep:], end - keep
        return "".join(parts)


def _decoded(match: re.Match[str]) -> str:
    return visible(_character(match[0]))


def _character(text: str) -> str:
    """Return what an entity stands for; anything else, and a name that is none (`&x;` in C), as it is."""
    # Names by the table: `html.unescape` takes the beginning of one for all of it, and makes "¬ify;" of "&notify;".
    return html.unescape(text) if text.startswith("&#") else html5.get(text.removeprefix("&"), text)


def _for_reading(match: re.Match[str]) -> str:
    return REMOVED if match["link"] is None else _link_text(match)


def _link_text(match: re.Match[str]) -> str:
    """Return the words of a link, nothing for an image; a citation marker keeps its brackets."""
    text, target = match["text"], match["target"]
    if match[0].startswith("!"):
        return ""
    # A picture may stand inside a link, with an address of its own.
    inner = _READABLE.whole(text)
    is_marker = _NUMBERS.fullmatch(text) is not None
    if not _TITLED.fullmatch(target) or (is_marker and not _ADDRESS_MARK.search(target)):
        return f"[{inner}] ({_READABLE.whole(target)})"  # no link: a remark in parentheses
    return f"[{inner}]" if is_marker and not inner.startswith("[") else inner


def _broken(match: re.Match[str]) -> str:
    whole = match[0]
    if match["nonce"] is not None:
        return NO_NONCE if is_nonce(whole) else whole
    if match["entity"] is not None:
        return whole.replace("&", "& ", 1) if _character(whole) != whole else whole
    return f"{whole} "


_VISIBLE = _Rule(
    found=re.compile(rf"{_ENTITY}|\r\n?|[^\t\n\r -~]+", re.IGNORECASE),
    unfinished=re.compile(rf"{_HALF_ENTITY}|\r\Z", re.IGNORECASE),
    replacement=_decoded,
)

_READABLE = _Rule(
    found=re.compile(
        rf"(?P<link>!?\[(?P<text>{_TEXT})\]\((?P<target>{_TARGET})(?:\)|\Z))"
        rf"|{_AUTO}>"
        rf"|{_BEGINS_ADDRESS}{_ADDRESS}(?<![.,;:!?'*_)])",
        re.IGNORECASE,
    ),
    unfinished=re.compile(
        rf"!?\[{_HALF_TEXT}(?:\Z|\[[^\[\]\n]{{0,80}}\Z|\](?:\Z|\({_HALF_TARGET}(?:\Z|\([^()\n]{{0,100}}\Z)))"
        rf"|!\Z|<[a-z]{{0,10}}\Z|{_AUTO}\Z"
        rf"|{_BEGINS_ADDRESS}{_ADDRESS}\Z"
        rf"|{_SCHEME}(?:\\?:?|\\?:\\?/?\\?)\Z|{_HALF_WWW}",
        re.IGNORECASE,
    ),
    replacement=_for_reading,
)

_HARMLESS = _Rule(
    found=re.compile(
        r"\](?=[(:])"
        rf"|<(?=[a-z/!?]|{_LOCAL}{{1,64}}@|{_LOCAL}{{65}})"
        rf"|(?P<entity>{_ENTITY})"
        rf"|{_AFTER_SPECIAL}\\?:(?=[/\\])|:(?=\\?/\\?/)"
        r"|(?<![^\W_])(?<!/)\\?/\\?/(?=[\w-]{1,63}\.|[\w-]{64})"
        rf"|{_WWW}"
        r"|(?P<nonce>(?<![a-z0-9])[0-9a-f]{16}(?![a-z0-9]))",
        re.IGNORECASE,
    ),
    unfinished=re.compile(
        rf"[\]\\]\Z|<{_LOCAL}{{0,64}}\Z|{_HALF_ENTITY}"
        r"|\\?:(?:\\|\\?/\\?)?\Z|\\?/\\?(?:/[\w-]{0,63})?\Z"
        rf"|{_HALF_WWW}"
        r"|(?<![a-z0-9])[0-9a-f]{1,16}\Z",
        re.IGNORECASE,
    ),
    replacement=_broken,
)

# In this order: entities may spell a link, and what is left of one may be the beginning of another.
_RULES = (_VISIBLE, _READABLE, _HARMLESS)

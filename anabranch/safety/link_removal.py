r"""Makes a model's text harmless to show as Markdown: no link, no picture, no invisible character, no nonce.

An instruction inside a passage could make an answer send what it read to a stranger's server, in the address of a
picture (the EchoLeak class of attack). So nothing remains that a Markdown renderer would turn into a link or a picture.
`<name>` is text, and stays: HTML is escaped where HTML is made.

Three passes, each over the result of the one before:

1. Entities become characters, and invisible characters are removed, as in documents.
2. Links are reduced to their text, pictures are removed, addresses are replaced, unless they are a document's own. This
   is for the reader, without a guarantee.
3. A blank breaks what could still be live: `](`, `]:` (no definition without it), a `<` before the scheme of an
   autolink, an entity, `://`, `//host`, `www.`, `mailto:`. This is the guarantee. It does not depend on where a line,
   a quotation or a block of code begins, on which renderers differ; a blank is readable everywhere, and any beginning
   of a clean text is clean, too.

`make_plain` is for a short text, such as a title or a quote, that joins other text: of these passes it needs no second.

Citation markers such as [1] or [2][3] stay. All patterns have a bounded length, so that a stream holds back only a
little.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html.entities import html5

from anabranch.safety.prompt_envelope import is_nonce
from anabranch.text.normalization import squeeze, visible

REMOVED = "[link removed]"
NO_NONCE = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for the nonce of an envelope; nothing joins with it."""

MOST_LINE = 400
"""Most characters of a line that joins other text."""

_CONTEXT = 8
"""At least as many characters as a pattern looks back at."""

_ENTITY = r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{0,31});"
_HALF_ENTITY = r"&#?[a-z0-9]{0,32}\Z"

_TEXT = r"(?:[^\[\]\n]|\[[^\[\]\n]{0,80}+\]){0,200}+"
_TARGET = r"(?:[^()\n]|\([^()\n]{0,100}+\)){0,400}+"
# Not possessive: before Python 3.11.5, possessive groups have a bug (gh-106052).
_HALF_TEXT, _HALF_TARGET = _TEXT.removesuffix("+"), _TARGET.removesuffix("+")
_ADDRESS = r"[!#-;=?-\[\\^_a-~]*"
_SCHEME = r"[a-z][a-z0-9+.-]{0,29}"
_AUTO = r"<(?:https?|ftp|mailto|javascript|vbscript|data|file):[^<>\s]{0,400}"
# After these, browsers accept any number of slashes or backslashes (WHATWG URL: special schemes). Markdown hides a
# backslash before a sign.
_SPECIAL = r"(?:https?|ftp|wss?|file)"
_WWW = r"(?<![^\W_])www(?=\\?\.[a-z0-9])"
_HALF_WWW = r"(?<![^\W_])ww?w?\\?\.?\Z"
_BEGINS_ADDRESS = rf"(?:{_SCHEME}\\?:\\?/\\?/|{_SPECIAL}\\?:[/\\]|{_WWW})"

_AFTER_SPECIAL = r"(?:(?<=http)|(?<=https)|(?<=ftp)|(?<=ws)|(?<=wss)|(?<=file))"

_NUMBERS = re.compile(r"\[?\s*\d+(?:\s*,\s*\d+)*\s*\]?")
_ADDRESS_MARK = re.compile(r"[/:.#?@%]")
_SOURCE = re.compile(r"[a-z][a-z0-9+.-]*://[^\s<>\[\]]+", re.IGNORECASE)
# A tag, an e-mail address in angle brackets, a link of a wiki.
_TAG = re.compile(r"<(?=[a-z/!?]|[^\s<>@]{1,99}@)|\[(?=\[)", re.IGNORECASE)
# An underscore inside a word is one to Markdown, too, and a backslash in an address would be a part of it.
_MARKS = re.compile(rf"{_SCHEME}://\S+|[\\`*~]|(?<![^\W_])_|_(?![^\W_])", re.IGNORECASE)
_TITLED = re.compile(r"\s*<?[^\s<>]*>?(?:\s+[\"'(].*)?\s*", re.DOTALL)


def strip_links(text: str, *, keep_addresses: bool = False) -> str:
    """Return text that is harmless in every Markdown renderer.

    Args:
        text: Markdown of any origin.
        keep_addresses: Whether addresses stay, each broken by a blank; for a document's own words.

    Returns:
        The text without links, pictures and invisible characters; doing it again changes nothing, and each
        beginning of it is harmless, too. Never raises.
    """
    for rule in _OWN_WORDS if keep_addresses else _RULES:
        text = rule.whole(text)
    return text


def make_plain(text: str, most: int = MOST_LINE) -> str:
    """Return anybody's text as one line that joins other text: in Markdown, a terminal and JSON it is only words.

    Args:
        text: Such as a title, a heading, a value of metadata or a quote.
        most: Most characters of the line.

    Returns:
        The text without invisible characters. Nothing visible is removed: a blank breaks what a renderer would make a
        link, a picture or a tag of, and a longer text ends in " ...".
    """
    line = break_live(squeeze(_VISIBLE.whole(text[: 10 * most])))
    return line if len(line) <= most else f"{line[: most - 4].rsplit(' ', 1)[0]} ..."


def break_live(text: str) -> str:
    """Return a text with a blank in whatever a renderer would make a link, a picture or a tag of; all else stays."""
    return _TAG.sub(r"\g<0> ", _HARMLESS.whole(text))


def name_source(source: str) -> str:
    """Return the name of a document as `make_plain` does; the address of a web page stays, for it is the source."""
    return source if _SOURCE.fullmatch(source) else make_plain(source)


def escape_marks(line: str) -> str:
    """Return a plain line with a backslash before what Markdown would show as a form, such as the stars of `*.pdf`."""
    return _MARKS.sub(lambda found: found[0] if "://" in found[0] else f"\\{found[0]}", line)


class LinkFilter:
    """`strip_links` for text that comes in pieces: a possible beginning of a link is held back."""

    def __init__(self) -> None:
        self._passes = [_Pass(rule) for rule in _RULES]

    def feed(self, piece: str) -> str:
        """Take the next piece; return what can be shown."""
        for each in self._passes:
            piece = each.feed(piece)
        return piece

    def finish(self) -> str:
        """Return what was held back."""
        shown = ""
        for each in self._passes:
            # Text held back by one pass goes through the passes after it.
            shown = each.feed(shown) + each.finish()
        return shown


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern, the unfinished beginnings of its matches, and its replacement."""

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
        return self._show(self._find_stable_end())

    def finish(self) -> str:
        return self._show(len(self._text))

    def _find_stable_end(self) -> int:
        """Return the end of the text that can no longer change, whatever comes next."""
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
        # Kept for the look-behinds of the patterns.
        keep = max(end - _CONTEXT, 0)
        self._text, self._done = self._text[keep:], end - keep
        return "".join(parts)


def _decode(match: re.Match[str]) -> str:
    return visible(_character(match[0]))


def _character(text: str) -> str:
    """Return the characters of an entity; other text, such as `&x;` in C, unchanged."""
    # Names from the table, because `html.unescape` also replaces beginnings, and makes "¬ify;" of "&notify;".
    return html.unescape(text) if text.startswith("&#") else html5.get(text.removeprefix("&"), text)


def _make_readable(match: re.Match[str]) -> str:
    return REMOVED if match["link"] is None else _link_text(match)


def _make_words(match: re.Match[str]) -> str:
    return match[0] if match["link"] is None else _link_text(match)


def _link_text(match: re.Match[str]) -> str:
    """Return the words of a link, nothing for a picture; a citation marker keeps its brackets."""
    text, target = match["text"], match["target"]
    if match[0].startswith("!"):
        return ""
    # A link may contain a picture with its own address.
    inner = _READABLE.whole(text)
    is_marker = _NUMBERS.fullmatch(text) is not None
    if not _TITLED.fullmatch(target) or (is_marker and not _ADDRESS_MARK.search(target)):
        return f"[{inner}] ({_READABLE.whole(target)})"  # no link: a remark in parentheses
    return f"[{inner}]" if is_marker and not inner.startswith("[") else inner


def _break_link(match: re.Match[str]) -> str:
    whole = match[0]
    if match["nonce"] is not None:
        return NO_NONCE if is_nonce(whole) else whole
    if match["entity"] is not None:
        return whole.replace("&", "& ", 1) if _character(whole) != whole else whole
    return f"{whole} "


_VISIBLE = _Rule(
    found=re.compile(rf"{_ENTITY}|\r\n?|[^\t\n\r -~]+", re.IGNORECASE),
    unfinished=re.compile(rf"{_HALF_ENTITY}|\r\Z", re.IGNORECASE),
    replacement=_decode,
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
    replacement=_make_readable,
)

_HARMLESS = _Rule(
    found=re.compile(
        r"\](?=[(:])"
        r"|<(?=[a-z][a-z0-9+.-]{1,31}:[^\s:<])"  # not `<std::string>`: no address begins so
        rf"|(?P<entity>{_ENTITY})"
        rf"|{_AFTER_SPECIAL}\\?:(?=[/\\])|:(?=\\?/\\?/)|(?:(?<=mailto)|(?<=xmpp))\\?:(?=\S)"
        r"|(?<![^\W_])(?<!/)\\?/\\?/(?=[\w-]{1,63}\.|[\w-]{64})"
        rf"|{_WWW}"
        r"|(?P<nonce>(?<![a-z0-9])[0-9a-f]{16}(?![a-z0-9]))",
        re.IGNORECASE,
    ),
    unfinished=re.compile(
        rf"[\]\\]\Z|<(?:[a-z][a-z0-9+.-]{{0,31}}:?)?\Z|{_HALF_ENTITY}"
        r"|\\?:(?:\\|\\?/\\?)?\Z|\\?/\\?(?:/[\w-]{0,63})?\Z"
        rf"|{_HALF_WWW}"
        r"|(?<![a-z0-9])[0-9a-f]{1,16}\Z",
        re.IGNORECASE,
    ),
    replacement=_break_link,
)

# In this order, because entities may spell a link, and the rest of a link may begin another.
_RULES = (_VISIBLE, _READABLE, _HARMLESS)
_OWN_WORDS = (_VISIBLE, replace(_READABLE, replacement=_make_words), _HARMLESS)

"""Takes links, images and active HTML out of what a model wrote, and the nonces of envelopes.

An answer that was steered by an instruction inside a passage could carry what it read to a stranger's server in the
address of a picture (the EchoLeak class of attack), so no address leaves unless the caller allows it. Citation markers
such as [1] or [2][3] stay. Every construct that is looked for has a largest length, so that a streamed answer needs to
hold back only a little; what is longer is made harmless by a space in the right place.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from anabranch.envelope import is_nonce

REMOVED = "[link removed]"
NO_NONCE = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for the nonce of an envelope; nothing joins with it."""

_TEXT = r"(?:[^\[\]\n]|\[[^\[\]\n]{0,80}\]){0,200}+"
_TARGET = r"(?:[^()\n]|\([^()\n]{0,100}\)){0,400}+"
_ADDRESS = r"[!#-;=?-\[\\^_a-~]*"
_SCHEME = r"[a-z][a-z0-9+.-]{0,29}"
_ACTIVE = (
    "a|applet|area|audio|base|body|button|embed|form|frame|frameset|head|html|iframe|image|img|input|link|math|meta|"
    "object|picture|script|source|style|svg|track|video"
)
_LOADS = re.compile(r"[\s/](?:on\w+|style|src|srcset|href|xlink:href|action|background|poster|data)\s*=", re.IGNORECASE)
_ACTIVE_TAG = re.compile(rf"</?(?:{_ACTIVE})\b", re.IGNORECASE)

_CONSTRUCT = re.compile(
    rf"(?P<link>!?\[(?P<text>{_TEXT})\]\((?P<target>{_TARGET})(?:\)|\Z))"
    rf"|(?P<auto><(?:https?|ftp|mailto|javascript|vbscript|data|file):[^<>\s]{{0,400}}>)"
    rf"|(?P<tag></?[a-z][a-z0-9:-]{{0,30}}(?:[\s/][^<>]{{0,300}})?>|</?(?:{_ACTIVE})\b[^<>]{{0,300}}\Z)"
    rf"|(?P<open><(?=/?(?:{_ACTIVE})\b))"
    rf"|(?P<stray>\](?=\())"
    rf"|(?P<address>(?:{_SCHEME}://|(?<![\w@.-])www\.(?=[a-z0-9])){_ADDRESS}(?<![.,;:!?'*_)]))"
    rf"|(?P<nonce>(?<![a-z0-9])[0-9a-f]{{16}}(?![a-z0-9]))",
    re.IGNORECASE,
)

# What may still become one of these when more text comes.
_OPEN = re.compile(
    rf"!?\[{_TEXT}(?:\Z|\[[^\[\]\n]{{0,80}}\Z|\](?:\Z|\({_TARGET}(?:\Z|\([^()\n]{{0,100}}\Z)))"
    rf"|[!\]]\Z|</?\Z|</?[a-z][^<>]{{0,400}}\Z"
    rf"|(?:{_SCHEME}://|(?<![\w@.-])www\.(?=[a-z0-9])){_ADDRESS}\Z"
    rf"|{_SCHEME}(?::/?)?\Z"
    r"|(?<![a-z0-9])[0-9a-f]{1,16}\Z",
    re.IGNORECASE,
)

_NUMBERS = re.compile(r"\[?\s*\d+(?:\s*,\s*\d+)*\s*\]?")
_ADDRESS_MARK = re.compile(r"[/:.#?@%]")
_TITLED = re.compile(r"\s*<?[^\s<>]*>?(?:\s+[\"'(].*)?\s*", re.DOTALL)
_JOINS_LEFT = re.compile(r"[a-zA-Z0-9_:/<\[\]!.&@=?%#+~$^-]")
_JOINS_RIGHT = re.compile(r"[a-zA-Z0-9_:/<>\[\](&@]|[.!:-]\S", re.DOTALL)


def strip_links(text: str, allowed: Collection[str] = ()) -> str:
    """Remove images and active HTML tags, reduce links to their text, and replace bare addresses.

    Args:
        text: Markdown of any origin.
        allowed: Addresses that may stay, spelt exactly as in the text.

    Returns:
        The text without links; stripping it again changes nothing. Never raises.
    """
    return _rewrite(text, 0, len(text), allowed, last="")


class LinkFilter:
    """`strip_links` for text that comes in pieces: what may be the beginning of a link waits for the rest."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = allowed
        self._text = ""
        self._done = 0
        self._last = ""

    def feed(self, piece: str) -> str:
        """Take the next piece, return what can be shown now."""
        self._text += piece
        return self._show(_settled(self._text, self._done))

    def finish(self) -> str:
        """Return what was held back."""
        return self._show(len(self._text))

    def _show(self, end: int) -> str:
        shown = _rewrite(self._text, self._done, end, self._allowed, last=self._last)
        # One character of what is done is context for the next piece.
        keep = max(end - 1, 0)
        self._text, self._done, self._last = self._text[keep:], end - keep, (self._last + shown)[-1:]
        return shown


def _rewrite(text: str, start: int, end: int, allowed: Collection[str], *, last: str) -> str:
    """Rewrite text[start:end]; `last` is the character that was shown before it."""
    parts: list[str] = []
    for match in _CONSTRUCT.finditer(text, start):
        if match.start() >= end:
            break
        plain = text[start : match.start()]
        last = (last + plain)[-1:]
        parts += [plain, _replacement(match, last, allowed)]
        last = (last + parts[-1])[-1:]
        start = match.end()
    return "".join([*parts, text[start:end]])


def _settled(text: str, start: int) -> int:
    """Return up to where nothing can change any more, whatever comes next."""
    waiting = _OPEN.search(text, start)
    for match in _CONSTRUCT.finditer(text, start):
        if waiting and waiting.start() <= match.start():
            break
        # Whether a space has to follow depends on the next two characters.
        if match.end() > len(text) - 2:
            return match.start()
        if waiting and waiting.start() < match.end():
            waiting = _OPEN.search(text, match.end())
    return waiting.start() if waiting else len(text)


def _replacement(match: re.Match[str], last: str, allowed: Collection[str]) -> str:
    whole = match[0]
    if match["nonce"] is not None:
        return NO_NONCE if is_nonce(whole) else whole
    if match["link"] is not None:
        return whole if match["target"].strip() in allowed else _joined(last, _link_text(match, allowed), match)
    if match["tag"] is not None:
        return _joined(last, "", match) if _ACTIVE_TAG.match(whole) or _LOADS.search(whole) else whole
    if match["open"] is not None or match["stray"] is not None:
        return f"{whole} "
    return whole if whole.strip("<>") in allowed else _joined(last, REMOVED, match)


def _link_text(match: re.Match[str], allowed: Collection[str]) -> str:
    """Return the words of a link, nothing for an image; a citation marker keeps its brackets."""
    text, target = match["text"], match["target"]
    if match[0].startswith("!"):
        return ""
    inner = strip_links(text, allowed)
    is_marker = _NUMBERS.fullmatch(text) is not None
    if not _TITLED.fullmatch(target) or (is_marker and not _ADDRESS_MARK.search(target)):
        return f"[{inner}] ({strip_links(target, allowed)})"  # no link: a remark in parentheses
    return f"[{inner}]" if is_marker and not inner.startswith("[") else inner


def _joined(before: str, text: str, match: re.Match[str]) -> str:
    """Put spaces around what is left of a construct where its neighbours could join it to a new one."""
    after = match.string[match.end() : match.end() + 2]
    if not text:
        return " " if _joins(before, after) else ""
    left = " " if _joins(before, text[:2]) else ""
    right = " " if _joins(text[-1], after) else ""
    return f"{left}{text}{right}"


def _joins(before: str, after: str) -> bool:
    return bool(_JOINS_LEFT.fullmatch(before)) and bool(_JOINS_RIGHT.match(after))

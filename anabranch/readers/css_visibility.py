"""What the style of a page hides: rules of its `<style>` elements, and the elements' own.

Only what a style says outright: not what scripts do, nor style sheets in other files, which are not fetched. Where
there is such a sheet, it may paint any ground, so that no letters are taken for white on white.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup
from bs4.element import Tag

_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_RULE = re.compile(r"(?<![^{}@;])([^{}@;]+)\{([^{}]*)\}")
_MEDIA = re.compile(r"@[\w-]{1,100}[^{};]{0,1000}(?:;|\{(?:[^{}]|\{[^{}]*\})*\})")
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*0(?:\.0+)?(?![.\d])"
    r"|font-size\s*:\s*(?:0?\.\d+|1)(?:px|pt)(?![.\d]))",
    re.IGNORECASE,
)
_PLACED = re.compile(r"position\s*:\s*(?:absolute|fixed)", re.IGNORECASE)
_FAR = re.compile(r"(?:^|;)\s*(?:left|right|top)\s*:\s*-\d{4,}(?:\.\d+)?px", re.IGNORECASE)
_INDENTED = re.compile(r"(?:^|;)\s*text-indent\s*:\s*-\d{4,}", re.IGNORECASE)
_WHITE = r"(?:#f{3}(?:f{3})?(?![0-9a-f])|white\b|rgba?\(\s*255\s*,\s*255\s*,\s*255\b)"
_LETTERS = re.compile(rf"(?:^|;)\s*color\s*:\s*{_WHITE}", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|;)\s*color\s*:", re.IGNORECASE)
_GROUND = re.compile(
    rf"(?:^|;)\s*background(?:-color|-image)?\s*:\s*(?!{_WHITE}|none|transparent|inherit)", re.IGNORECASE
)
# Of a pointer, a place, a script: what holds for it now and then, or for what is no element.
_STATES = re.compile(r":(?!not\(|first-|last-|nth-)", re.IGNORECASE)
_MOST_RULES = 500  # that say something of what is seen; no page of a person has more
_MOST_BYTES = 1 << 19


class CssVisibility:
    """Which elements of one page are not seen."""

    def __init__(self, soup: BeautifulSoup | None = None) -> None:
        """Apply the rules of the page to its elements; without one, only what these say of themselves counts."""
        self._said: dict[int, str] = {}
        self._is_whole = soup is not None and soup.find("link", rel="stylesheet") is None
        if soup is not None:
            self._apply(soup)

    def hides(self, tag: Tag) -> bool:
        """Tell whether nobody sees an element."""
        style = self._style(tag)
        if not style:
            return False
        if _is_unseen(style):
            return True
        return self._is_whole and bool(_LETTERS.search(style)) and not self._has_ground(tag)

    def _apply(self, soup: BeautifulSoup) -> None:
        rules = [rule for rule in _rules(soup) if _tells(rule[1])][:_MOST_RULES]
        # To look for elements takes longer than all else: only on a page where a rule does hide one.
        hides_any = any(_hides(declared) and _selected(soup, selector) for selector, declared in rules)
        for selector, declared in rules if hides_any else ():
            for tag in _selected(soup, selector):
                # In the order of the page: of two rules that contradict each other, the later one counts here.
                self._said[id(tag)] = f"{self._said.get(id(tag), '')};{declared}"

    def _style(self, tag: Tag) -> str:
        return f"{self._said.get(id(tag), '')};{tag.get('style') or ''}".strip(";")

    def _has_ground(self, tag: Tag) -> bool:
        holders = (tag, *tag.parents)
        return any(
            each.get("bgcolor") or each.get("background") or _GROUND.search(self._style(each)) for each in holders
        )


def _tells(declared: str) -> bool:
    patterns = (_HIDING, _FAR, _INDENTED, _COLOUR, _GROUND)
    return any(pattern.search(declared) for pattern in patterns) or "display" in declared or "visibility" in declared


def _hides(declared: str) -> bool:
    return _is_unseen(declared) or bool(_LETTERS.search(declared))


def _is_unseen(style: str) -> bool:
    last: dict[str, str] = {}
    for each in style.split(";"):
        name, _, value = each.partition(":")
        last[name.strip().lower()] = value.strip()
    # Once each: a later `display: block` undoes an earlier `none`.
    style = ";".join(f"{name}: {value}" for name, value in last.items())
    is_far = _PLACED.search(style) and _FAR.search(style)
    return bool(_HIDING.search(style) or is_far or _INDENTED.search(style))


def _rules(soup: BeautifulSoup) -> Iterator[tuple[str, str]]:
    """Yield the rules that hold for a screen, whatever its width: those inside of `@media` are left out."""
    text = "\n".join(str(each.string or "") for each in soup.find_all("style"))[:_MOST_BYTES]
    rules = _RULE.findall(_MEDIA.sub("", _COMMENT.sub("", text)))
    yield from ((selector.strip(), declared) for selector, declared in rules)


def _selected(soup: BeautifulSoup, selector: str) -> list[Tag]:
    parts = [part for part in selector.split(",") if part.strip() and not _STATES.search(part)]
    try:
        return list(soup.select(",".join(parts))) if parts else []
    except (soup.css.api.SelectorSyntaxError, NotImplementedError):
        return []

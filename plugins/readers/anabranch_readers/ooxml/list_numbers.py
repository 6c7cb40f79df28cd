"""The numbers of a Word document's lists and clauses, which it stores as rules and counts when it is shown.

ECMA-376 part 1, 17.9: a paragraph, or its style, names an instance of numbering and a level; the instance refers to an
abstract definition, whose levels say how to count and what to print (`%1.%2`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from anabranch.readers.inert_xml import Element
from anabranch.text.normalization import squeeze
from anabranch_readers.ooxml.word_package import is_on, qn, value_of

BULLET = "-"

_LEVELS = 9
_PLACE = re.compile("%([1-9])")
_DEEPEST = 20  # styles that are based on each other
_LARGEST = 3999  # a Roman number has no sign for more
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


def _roman(number: int) -> str:
    signs = ""
    for value, sign in _ROMAN:
        signs += sign * (number // value)
        number %= value
    return signs


def _letters(number: int) -> str:
    # After z comes aa, then bb (17.18.59, lowerLetter).
    return chr(ord("A") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)


_FORMATS: dict[str, Callable[[int], str]] = {
    "upperRoman": _roman,
    "lowerRoman": lambda number: _roman(number).lower(),
    "upperLetter": _letters,
    "lowerLetter": lambda number: _letters(number).lower(),
    "decimalZero": lambda number: f"{number:02}",
}


@dataclass(frozen=True, slots=True)
class _Rule:
    """How one level counts."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    restarts: int | None = None
    is_legal: bool = False


@dataclass(slots=True)
class _List:
    """An abstract definition, and how far it has counted."""

    rules: dict[int, _Rule]
    counts: dict[int, int] = field(default_factory=dict)

    def next(self, level: int, rules: Mapping[int, _Rule]) -> str:
        """Count one paragraph of a level, and return what is printed before it."""
        rule = rules.get(level, _Rule())
        self.counts[level] = self.counts.get(level, rule.start - 1) + 1
        for deeper in [each for each in self.counts if each > level]:
            restarts = rules.get(deeper, _Rule()).restarts
            # 17.9.10: a level counts anew after any above it, unless it names one, or none (0).
            if restarts is None or level < restarts:
                del self.counts[deeper]
        if rule.form == "bullet":
            return BULLET
        return _PLACE.sub(lambda found: self._number(int(found[1]) - 1, rules, rule), rule.text).strip()

    def _number(self, level: int, rules: Mapping[int, _Rule], printed: _Rule) -> str:
        rule = rules.get(level, _Rule())
        number = self.counts.get(level, rule.start)
        form = _FORMATS.get("decimal" if printed.is_legal else rule.form)
        return form(number) if form and 0 < number <= _LARGEST else str(number)


def list_labels(root: Element, numbering: Element | None, styles: Element | None) -> dict[Element, str]:
    """Return what is printed before each paragraph that is numbered, `-` for a bullet, by its element."""
    if numbering is None:
        return {}
    lists = _Numbering(numbering, _style_numbers(styles))
    labels = ((each, lists.label(each)) for each in root.iter(qn("p")) if not _is_section_end(each))
    return {paragraph: label for paragraph, label in labels if label}


def _is_section_end(paragraph: Element) -> bool:
    """Tell whether it is nothing but the mark that ends a section, which Word does not show and does not count."""
    own = paragraph.find(qn("pPr"))
    return own is not None and own.find(qn("sectPr")) is not None and next(paragraph.iter(qn("r")), None) is None


# The instance and the level that a style names, either of which it may leave out, and the style it is based on.
_StyleNumber = tuple[str | None, str | None, str]


def _style_numbers(styles: Element | None) -> dict[str, _StyleNumber]:
    found: dict[str, _StyleNumber] = {}
    for style in styles.iter(qn("style")) if styles is not None else ():
        own = style.find(f"{qn('pPr')}/{qn('numPr')}")
        named = (value_of(own, "numId"), value_of(own, "ilvl"))
        found[style.get(qn("styleId"), "")] = (*named, value_of(style, "basedOn") or "")
    return found


class _Numbering:
    def __init__(self, root: Element, styles: Mapping[str, _StyleNumber]) -> None:
        self._styles = styles
        self._abstract = {each.get(qn("abstractNumId"), ""): each for each in root.iter(qn("abstractNum"))}
        self._instances = {each.get(qn("numId"), ""): each for each in root.iter(qn("num"))}
        # A style may stand for one level of a list without saying which.
        self._level_of = {
            (number, value_of(level, "pStyle")): level.get(qn("ilvl"), "0")
            for number, each in self._abstract.items()
            for level in each.iter(qn("lvl"))
        }
        self._lists: dict[str, _List] = {}
        self._rules: dict[str, dict[int, _Rule]] = {}

    def label(self, paragraph: Element) -> str:
        """Count a paragraph, and return what is printed before it; nothing where it is in no list."""
        own = paragraph.find(qn("pPr"))
        given = own.find(qn("numPr")) if own is not None else None
        style = value_of(own, "pStyle") or ""
        number, level = value_of(given, "numId"), value_of(given, "ilvl")
        if number is None:
            number, level = self._of_style(style)
        instance = self._instances.get(number or "0")
        if instance is None:
            return ""
        abstract = self._abstract_of(instance)
        level = level or self._level_of.get((abstract, style), "0")
        if abstract not in self._abstract or not level.isdecimal() or int(level) >= _LEVELS:
            return ""
        counted = self._lists.setdefault(abstract, _List(_rules(self._abstract[abstract])))
        return counted.next(int(level), self._of_instance(number or "", instance, counted))

    def _of_style(self, style: str) -> tuple[str | None, str | None]:
        level: str | None = None
        for _ in range(_DEEPEST):
            number, named, above = self._styles.get(style, (None, None, ""))
            level = level or named
            if number is not None or not above:
                return number, level
            style = above
        return None, None

    def _abstract_of(self, instance: Element) -> str:
        """Return the definition of an instance, where need be by way of the style that has it (17.9.21)."""
        number = value_of(instance, "abstractNumId") or ""
        abstract = self._abstract.get(number)
        link = value_of(abstract, "numStyleLink")
        linked = self._instances.get(self._of_style(link)[0] or "") if link else None
        return number if linked is None else value_of(linked, "abstractNumId") or number

    def _of_instance(self, number: str, instance: Element, counted: _List) -> dict[int, _Rule]:
        """Return the rules of an instance; at its first paragraph the levels begin that it starts anew (17.9.8)."""
        if number not in self._rules:
            self._rules[number] = dict(counted.rules)
            for override in instance.iter(qn("lvlOverride")):
                self._rules[number] |= dict(_levels(override))
                level, start = override.get(qn("ilvl"), ""), value_of(override, "startOverride") or ""
                if level.isdecimal() and start.isdecimal():
                    counted.counts[int(level)] = int(start) - 1
        return self._rules[number]


def _rules(abstract: Element) -> dict[int, _Rule]:
    return dict(_levels(abstract))


def _levels(parent: Element) -> Iterator[tuple[int, _Rule]]:
    for level in parent.iter(qn("lvl")):
        at, start, restart = level.get(qn("ilvl"), ""), value_of(level, "start") or "", value_of(level, "lvlRestart")
        if at.isdecimal():
            yield (
                int(at),
                _Rule(
                    int(start) if start.isdecimal() else 0,
                    value_of(level, "numFmt") or "decimal",
                    squeeze(value_of(level, "lvlText") or ""),
                    int(restart) if restart and restart.isdecimal() else None,
                    bool(is_on(level, "isLgl")),
                ),
            )

"""What is written in a Word document and not seen: hidden by itself or by its style, white on white, or tiny."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anabranch.readers.inert_xml import Element
from anabranch.text.normalization import squeeze
from anabranch_readers.ooxml.word_package import is_on, qn, value_of

_TINY = 4  # half points: no eye reads two points
_WHITE = 0xF0  # least of each channel; off-white hides as well as white
_LIGHT = frozenset({"background1", "light1"})  # the theme's paper
_DEEPEST = 20  # styles that are based on each other; a forged file may make a ring of them
_NO_FILL = frozenset({"", "auto", "none", "FFFFFF"})


@dataclass(frozen=True, slots=True)
class _Look:
    """What a style or a run says of its letters; None where it says nothing."""

    hidden: bool | None = None
    white: bool | None = None
    size: int | None = None
    ground: bool | None = None

    def fill_from(self, other: _Look) -> _Look:
        """Return this look, with what it does not say taken from another."""
        names = ("hidden", "white", "size", "ground")
        return replace(self, **{name: getattr(other, name) for name in names if getattr(self, name) is None})


class HiddenRuns:
    """Takes runs that nobody sees out of the trees of one document, and counts their letters."""

    def __init__(self, styles: Element | None) -> None:
        """Take the styles of the document, if it has any."""
        self.letters = 0
        self._styles: dict[str, Element] = {}
        self._looks: dict[str, _Look] = {}
        self._plain = _Look()
        if styles is not None:
            self._plain = _look(styles.find(f"{qn('docDefaults')}/{qn('rPrDefault')}/{qn('rPr')}"))
            self._styles = {style.get(qn("styleId"), ""): style for style in styles.iter(qn("style"))}
            default = (each for each in self._styles.values() if each.get(qn("type")) == "paragraph")
            normal = next((each for each in default if each.get(qn("default")) in {"1", "true"}), None)
            self._plain = self._style(normal.get(qn("styleId"), "")) if normal is not None else self._plain

    def remove_from(self, root: Element) -> None:
        """Take them out of a tree."""
        # A page of another colour shows white letters.
        is_coloured = root.find(qn("background")) is not None
        for paragraph in list(root.iter(qn("p"))):
            look = self._paragraph_look(paragraph)
            for run in [each for each in paragraph.iter(qn("r")) if _owner(each) is paragraph]:
                own = run.find(qn("rPr"))
                seen = _look(own).fill_from(self._style(value_of(own, "rStyle") or "")).fill_from(look)
                if _is_hidden(seen, run, is_coloured=is_coloured):
                    self.letters += len(squeeze("".join(each.text or "" for each in run.iter(qn("t")))))
                    _take_out(run)

    def _paragraph_look(self, paragraph: Element) -> _Look:
        own = paragraph.find(qn("pPr"))
        ground = _Look(ground=_ground(own) or None)
        return ground.fill_from(self._style(value_of(own, "pStyle") or "")).fill_from(self._plain)

    def _style(self, name: str, depth: int = 0) -> _Look:
        style = self._styles.get(name)
        if style is None or depth > _DEEPEST:
            return _Look()
        if name not in self._looks:
            own = _look(style.find(qn("rPr"))).fill_from(_Look(ground=_ground(style.find(qn("pPr"))) or None))
            self._looks[name] = own.fill_from(self._style(value_of(style, "basedOn") or "", depth + 1))
        return self._looks[name]


def _look(properties: Element | None) -> _Look:
    if properties is None:
        return _Look()
    size = value_of(properties, "sz") or ""
    return _Look(
        is_on(properties, "vanish"),
        _is_white(properties.find(qn("color"))),
        int(size) if size.isdecimal() else None,
        _ground(properties) or None,
    )


def _is_white(color: Element | None) -> bool | None:
    if color is None:
        return None
    if color.get(qn("themeColor")):
        return color.get(qn("themeColor")) in _LIGHT and not color.get(qn("themeShade"))
    value = color.get(qn("val"), "")
    try:
        return len(value) == 6 and min(bytes.fromhex(value)) >= _WHITE
    except ValueError:
        return False


def _ground(properties: Element | None) -> bool:
    """Tell whether something is painted behind the letters."""
    if properties is None:
        return False
    shade = properties.find(qn("shd"))
    filled = shade is not None and (
        shade.get(qn("fill"), "").upper() not in {each.upper() for each in _NO_FILL}
        or shade.get(qn("themeFill")) is not None
        or shade.get(qn("val"), "clear") not in {"clear", "nil"}
    )
    return filled or (value_of(properties, "highlight") or "none") not in {"none", "white"}


def _is_hidden(look: _Look, run: Element, *, is_coloured: bool) -> bool:
    if look.hidden or (look.size is not None and look.size <= _TINY):
        return True
    return bool(look.white) and not look.ground and not is_coloured and not _is_painted(run)


def _is_painted(run: Element) -> bool:
    """Tell whether a run stands where something else may paint its ground: a cell, a table's style, a shape."""
    for each in run.iterancestors(qn("tc"), qn("tbl"), qn("txbxContent")):
        if each.tag == qn("txbxContent"):
            return True
        if each.tag == qn("tc") and _ground(each.find(qn("tcPr"))):
            return True
        if each.tag == qn("tbl") and value_of(each.find(qn("tblPr")), "tblStyle"):
            return True
    return False


def _owner(run: Element) -> Element | None:
    return next(run.iterancestors(qn("p")), None)


def _take_out(run: Element) -> None:
    parent = run.getparent()
    # What follows an element belongs to it in lxml; in these files it is white space.
    if parent is not None:
        parent.remove(run)

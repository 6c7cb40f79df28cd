"""What the sheets of an Excel workbook share: their names, the strings they refer to, the formats of their cells."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH

from anabranch.errors import ReadingError
from anabranch.readers.inert_xml import Element, local_name
from anabranch.text.normalization import clean, squeeze
from anabranch_readers.ooxml.number_formats import Format, format_of
from anabranch_readers.ooxml.package import main_part, parts, related, relations
from anabranch_readers.zip_container import Archive, elements

_MOST_BYTES = 1 << 28  # all strings of a workbook are held at once
# Characters that XML cannot hold are written as _x000D_ (ECMA-376 part 1, 22.9.2.19).
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: what it is called, the part it is in, and whether Excel shows it."""

    name: str
    part: str
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class Workbook:
    """What is needed to read the sheets.

    Attributes:
        strings: The texts that cells refer to by their place.
        formats: What each cell style makes of a number.
        epoch: Day 0 of its dates.
    """

    sheets: tuple[Sheet, ...]
    strings: tuple[str, ...]
    formats: tuple[Format, ...]
    epoch: datetime.datetime


def load_workbook(archive: Archive, source: str) -> Workbook:
    """Return the workbook without the cells of its sheets.

    Raises:
        ReadingError: `broken` when it is none, `too_large` when its strings are.
    """
    main = main_part(archive, "workbook", source)
    root = archive.xml(main)
    strings = [text for part in parts(archive, main, "sharedStrings") for text in _strings(archive, part, source)]
    formats: list[Format] = [form for part in parts(archive, main, "styles") for form in _formats(archive.xml(part))]
    said = root.find("{*}workbookPr")
    # Excel for the Macintosh counted days from 1904 on.
    is_mac = said is not None and said.get("date1904", "0") in {"1", "true"}
    epoch = MAC_EPOCH if is_mac else WINDOWS_EPOCH
    return Workbook(tuple(_sheets(archive, main, root)), tuple(strings), tuple(formats), epoch)


def string_of(element: Element) -> str:
    """Return the text of a string item; what only tells how to pronounce it is left out."""
    runs = (
        child.find("{*}t") if local_name(child) == "r" else child
        for child in element
        if local_name(child) in {"r", "t"}
    )
    text = "".join(run.text or "" for run in runs if run is not None)
    return clean(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)) if text else ""


def _sheets(archive: Archive, main: str, root: Element) -> Iterator[Sheet]:
    named = relations(archive, main)
    for element in root.iterfind("{*}sheets/{*}sheet"):
        part = related(archive, named, element, "worksheet")
        if part:  # charts and macros may have a sheet of their own, which holds no cells
            yield Sheet(squeeze(element.get("name", "")), part, element.get("state", "visible") != "visible")


def _strings(archive: Archive, part: str, source: str) -> Iterator[str]:
    if archive.size(part) > _MOST_BYTES:
        raise ReadingError(f"{source!r} holds more than {_MOST_BYTES} bytes of text.", reason="too_large")
    with archive.stream(part) as stream:
        yield from (string_of(element) for element in elements(stream, "si"))


def _formats(root: Element) -> Iterator[Format]:
    fonts = [_is_white(font.find("{*}color")) for font in root.iterfind("{*}fonts/{*}font")]
    plain = [_is_unfilled(fill) for fill in root.iterfind("{*}fills/{*}fill")]
    own = {each.get("numFmtId"): each.get("formatCode", "") for each in root.iterfind("{*}numFmts/{*}numFmt")}
    for style in root.iterfind("{*}cellXfs/{*}xf"):
        number = style.get("numFmtId", "0")
        code = own.get(number) or (BUILTIN_FORMATS.get(int(number), "") if number.isdecimal() else "")
        form = format_of(code)
        is_white = _flag_at(fonts, style.get("fontId", "")) and _flag_at(plain, style.get("fillId", "0"))
        # A table or a rule may paint the ground of a cell whose own style does not: `ExcelRows` looks.
        yield "white" if is_white and form == "plain" else form


def _is_white(color: Element | None) -> bool:
    # The theme's first colour is its paper.
    is_paper = color is not None and color.get("theme") == "0" and float(color.get("tint", "0") or 0) >= 0
    return is_paper or (color is not None and color.get("rgb", "").upper().endswith("FFFFFF"))


def _is_unfilled(fill: Element) -> bool:
    pattern = fill.find("{*}patternFill")
    if pattern is None or pattern.get("patternType", "none") == "none":
        return pattern is not None
    return pattern.get("patternType") == "solid" and _is_white(pattern.find("{*}fgColor"))


def _flag_at(flags: Sequence[bool], place: str) -> bool:
    return place.isdecimal() and int(place) < len(flags) and flags[int(place)]

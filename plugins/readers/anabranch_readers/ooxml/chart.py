"""Read the numbers that a chart shows; the file keeps a copy of them beside the drawing."""

from __future__ import annotations

from collections.abc import Iterator

from openpyxl.utils.datetime import WINDOWS_EPOCH

from anabranch.readers.inert_xml import Element
from anabranch.text.normalization import squeeze
from anabranch_readers.ooxml.number_formats import Format, format_number, format_of


def chart_title(root: Element) -> str:
    """Return the title of a chart, empty where it has none of its own."""
    title = root.find("{*}chart/{*}title")
    return squeeze(" ".join(text.text or "" for text in title.iter("{*}t"))) if title is not None else ""


def chart_rows(root: Element) -> list[list[str]]:
    """Return a chart as a table: a row for each category, a column for each series."""
    series = [(_name(each), _points(each, "cat", "xVal"), _points(each, "val", "yVal")) for each in root.iter("{*}ser")]
    if not series:
        return []
    # Points without a value are left out, so that two series need not have the same places.
    places = sorted({place for _, categories, values in series for place in (*categories, *values)})
    named = next((categories for _, categories, _ in series if categories), {})
    rows = [[named.get(place, str(place + 1)), *(values.get(place, "") for *_, values in series)] for place in places]
    return [["category", *(name for name, *_ in series)], *rows]


def _name(series: Element) -> str:
    return squeeze(series.findtext("{*}tx//{*}v") or "") or "value"


def _points(series: Element, *names: str) -> dict[int, str]:
    """Return what stands at each place; of categories on several levels the innermost."""
    holders = (series.find(f"{{*}}{name}") for name in names)
    holder = next((each for each in holders if each is not None), None)
    if holder is None:
        return {}
    level = holder.find(".//{*}lvl")
    form = format_of(holder.findtext(".//{*}formatCode") or "")
    return dict(_read(level if level is not None else holder, form))


def _read(holder: Element, form: Format) -> Iterator[tuple[int, str]]:
    for point in holder.iter("{*}pt"):
        place, value = point.get("idx", ""), squeeze(point.findtext("{*}v") or "")
        if place.isdecimal() and value:
            yield int(place), format_number(value, form, WINDOWS_EPOCH) if _is_number(value) else value


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True

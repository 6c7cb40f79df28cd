"""Find the styles of an OpenDocument file that hide what has them."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.readers.zip_container import Archive, Element, attribute

_HIDING = (
    ("text-properties", "display", "none"),
    ("table-properties", "display", "false"),
    ("drawing-page-properties", "visibility", "hidden"),
)

HiddenStyles = frozenset[tuple[str, str]]
"""Family and name of each style that hides."""


def hidden_styles(archive: Archive, content: Element) -> HiddenStyles:
    """Return the styles that hide text, sheets or slides, in the content and in the file's list of styles."""
    roots = [content, *([archive.xml("styles.xml")] if "styles.xml" in archive.names else [])]
    return frozenset(
        (attribute(style, "family"), attribute(style, "name"))
        for root in roots
        for style in root.iter("{*}style")
        if any(_hides(style))
    )


def _hides(style: Element) -> Iterator[bool]:
    for kind, name, value in _HIDING:
        said = style.find(f"{{*}}{kind}")
        yield said is not None and attribute(said, name) == value

"""The parts of a Word document: its body, its styles, the definitions of its lists and its notes.

The Strict edition of the standard (ISO/IEC 29500-1, Annex F lists its namespaces) differs in names only; a part in it
is read as the Transitional edition that the other parts of this package know.
"""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.readers.inert_xml import Element, parse_xml
from anabranch_readers.ooxml.package import main_part, parts
from anabranch_readers.zip_container import Archive

_TRANSITIONAL = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"


def qn(name: str) -> str:
    """Return the name of an element or attribute of Word as lxml has it, from `w:p` for instance."""
    return f"{{{_TRANSITIONAL}}}{name.removeprefix('w:')}"


def value_of(parent: Element | None, name: str) -> str | None:
    """Return the value of a property; empty where it is there without one, None where it is not there."""
    found = parent.find(qn(name)) if parent is not None else None
    return None if found is None else str(found.get(qn("w:val"), ""))


def is_on(parent: Element | None, name: str) -> bool | None:
    """Tell whether a property is on; None where it is not there.

    Without a value such a property is on (ECMA-376 part 1, 17.7.3).
    """
    said = value_of(parent, name)
    return None if said is None else said not in {"0", "false", "off"}


class WordPackage:
    """The parts of one document, each parsed when it is asked for."""

    def __init__(self, archive: Archive, source: str) -> None:
        """Find the main part.

        Raises:
            ReadingError: `broken` when there is none.
        """
        self._archive = archive
        self._main = main_part(archive, "document", source)

    def document(self) -> Element:
        """Return the root of the main part."""
        return self._root(self._main)

    def styles(self) -> Element | None:
        """Return the root of the styles, None where there are none."""
        return next(self._roots("styles"), None)

    def numbering(self) -> Element | None:
        """Return the root of the definitions of lists, None where there are none."""
        return next(self._roots("numbering"), None)

    def notes(self) -> list[Element]:
        """Return the roots of the footnotes and of the endnotes."""
        return [*self._roots("footnotes"), *self._roots("endnotes")]

    def _roots(self, kind: str) -> Iterator[Element]:
        return (self._root(part) for part in parts(self._archive, self._main, kind))

    def _root(self, part: str) -> Element:
        return parse_xml(self._archive.read(part).replace(_STRICT, _TRANSITIONAL.encode()))

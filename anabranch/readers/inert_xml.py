"""XML of strangers, parsed so that nothing in it acts."""

from __future__ import annotations

from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

# An lxml element; lxml brings no types.
Element = Any


def parse_xml(data: bytes) -> Element:
    """Return the root of an XML document; entities stay unexpanded, and nothing outside it is fetched."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    return etree.fromstring(data, parser)


def local_name(element: Element) -> str:
    """Return an element's name without its namespace: two editions of a standard differ only in that."""
    return str(element.tag).rpartition("}")[2]

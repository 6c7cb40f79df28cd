"""Find the parts of an office file: an archive whose parts name each other by relationships (ECMA-376, part 2)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.errors import ReadingError
from anabranch.readers.document import declared_title
from anabranch.readers.inert_xml import Element, local_name
from anabranch.text.normalization import squeeze
from anabranch_readers.zip_container import Archive, attribute


@dataclass(frozen=True, slots=True)
class Relation:
    """A part that another part names.

    Attributes:
        kind: Last word of the relationship's type, such as `worksheet`; the two editions of the standard share it.
        part: Name of the part in the archive; it may be missing there.
    """

    kind: str
    part: str


def relations(archive: Archive, part: str) -> dict[str, Relation]:
    """Return what a part names inside the archive, by id; for '' what the file as a whole names."""
    folder, name = posixpath.split(part)
    listing = posixpath.join(folder, "_rels", f"{name}.rels")
    if listing not in archive.names:
        return {}
    found: dict[str, Relation] = {}
    for element in archive.xml(listing):
        # Links to the web are relationships, too; only parts of this file are read.
        if element.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip("/")
            found[element.get("Id", "")] = Relation(element.get("Type", "").rpartition("/")[2], target)
    return found


def parts(archive: Archive, part: str, *kinds: str) -> list[str]:
    """Return the parts of these kinds that a part names and that are there, in the order of the listing."""
    named = relations(archive, part).values()
    return [relation.part for relation in named if relation.kind in kinds and relation.part in archive.names]


def main_part(archive: Archive, root: str, source: str) -> str:
    """Return the name of the main part, having checked that its root element is called `root`.

    Raises:
        ReadingError: `broken` when there is none.
    """
    for part in parts(archive, "", "officeDocument"):
        with archive.stream(part) as stream:
            head = stream.read(4096)
        # In the head alone: to parse the part would take as long as reading it.
        if root.encode() in head:
            return part
    msg = f"{source!r} has no {root} in it."
    raise ReadingError(msg, reason="broken", hint="Check the file's extension, or save it again.")


def properties(archive: Archive) -> tuple[str, str]:
    """Return the title and the author that the file declares, empty where it declares none."""
    for part in parts(archive, "", "core-properties"):
        said = {local_name(element): squeeze(element.text or "") for element in archive.xml(part)}
        return declared_title(said.get("title")), said.get("creator", "")
    return "", ""


def related(archive: Archive, named: Mapping[str, Relation], element: Element, kind: str, name: str = "id") -> str:
    """Return the part of a kind that a relationship attribute of an element stands for, or nothing."""
    relation = named.get(attribute(element, name))
    return relation.part if relation and relation.kind == kind and relation.part in archive.names else ""

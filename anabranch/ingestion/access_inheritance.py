"""Access tags for a new file of a run without tags: those that its content or its archive had before."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from anabranch.ingestion.directory_walk import FoundFile
from anabranch.store.file_identity import archives_of, is_gone, is_url
from anabranch.store.writer_protocol import CorpusWriter
from anabranch.text.normalization import storable

Tags = tuple[str, ...]

PUBLIC = "everybody may read it, although files beside it have access tags; give --access to protect it"


class Inheritance:
    """The access tags in the corpus when a run began."""

    def __init__(self, writer: CorpusWriter) -> None:
        """Read the records of the corpus."""
        self._by_content: dict[str, list[tuple[str, str, Tags]]] = {}
        self._by_archive: dict[str, set[str]] = {}
        self._known: set[Path] = set()
        self._tagged: set[Path] = set()
        known = list(writer.files())
        # Most corpora have no tags, and need no index of their files.
        if any(file.access for file in known):
            for file in known:
                self._learn(file.path, file.source, file.sha256, file.access)

    def inherit_tags(self, found: FoundFile, identity: str, digest: str, folders: Collection[Path]) -> tuple[Tags, str]:
        """Return the tags of a new file, and a remark if the user should know of them.

        Args:
            found: The file.
            identity: The name under which the corpus will record it.
            digest: Hash of its bytes; empty if they are not read.
            folders: The folders of this run; tags of neighbours count only inside them.
        """
        # Only from files that are gone: somebody who copied a file may have wanted to publish it.
        gone = [(source, tags) for path, source, tags in self._by_content.get(digest, ()) if is_gone(path)]
        if gone:
            # The union: if two protected files had this content, readers of either keep access.
            tags = tuple(sorted({tag for _, each in gone for tag in each}))
            return tags, f"it keeps the access tags {', '.join(tags)} of {gone[0][0]}"
        others = [self._by_archive.get(archive, ()) for archive in archives_of(identity)] if found.is_copy else []
        tags = tuple(sorted({tag for each in others for tag in each}))
        if tags:
            return tags, f"it gets all access tags of the other files in the archive: {', '.join(tags)}"
        return (), PUBLIC if self._is_beside_tagged(identity, folders) else ""

    def _learn(self, path: str, source: str, digest: str, tags: Tags) -> None:
        if tags and digest:
            self._by_content.setdefault(digest, []).append((path, source, tags))
        if is_url(path):
            return
        _add_folders(self._known, path)
        if tags:
            _add_folders(self._tagged, path)
            for archive in archives_of(path):
                self._by_archive.setdefault(archive, set()).update(tags)

    def _is_beside_tagged(self, identity: str, folders: Collection[Path]) -> bool:
        """Tell whether the nearest folder of this run with known files has a file with tags."""
        if not self._tagged or is_url(identity):
            return False
        above = list(Path(identity).parents)
        roots = {Path(storable(str(folder))) for folder in folders}
        # For a file that was given by itself, only its own folder counts.
        depth = next((at for at, folder in enumerate(above) if folder in roots), 0)
        near = next((folder for folder in above[: depth + 1] if folder in self._known), None)
        return near in self._tagged


def _add_folders(folders: set[Path], path: str) -> None:
    for folder in Path(path).parents:
        if folder in folders:  # then its parents are in it, too
            return
        folders.add(folder)

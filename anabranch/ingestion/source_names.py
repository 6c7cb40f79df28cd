"""Give documents from different files different names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from anabranch.readers.document import Document
from anabranch.store.file_identity import is_gone
from anabranch.store.records import digest_of
from anabranch.store.writer_protocol import CorpusWriter


class Names:
    """The names of the documents in a corpus, and of those that wait to be committed."""

    def __init__(self, writer: CorpusWriter, is_gone: Callable[[str], bool] = is_gone) -> None:
        """Take the corpus, and a function that tells whether a file is gone."""
        self._writer = writer
        self._is_gone = is_gone
        self._uncommitted: dict[str, str] = {}
        self._freed: dict[str, str] = {}

    def make_unique(self, document: Document, path: str) -> Document:
        """Return a document under a name that no other file has: if it is taken, with its folder in front."""
        source = document.source
        if self._is_taken(source, path):
            source = f"{PurePath(path).parent.name or 'files'}/{source}"
        # From the path, so that a file has the same name in each run.
        while self._is_taken(source, path):
            source = f"{digest_of(path)[:6]}/{source}"
        if source == document.source:
            return document
        return replace(document, source=source, key=source if document.key == document.source else document.key)

    def wait(self, source: str, path: str) -> None:
        """Reserve a name for a document that is not committed yet."""
        self._uncommitted[source] = path

    def take_freed(self, source: str) -> str | None:
        """Return the removed file that had this name before, once; None without one."""
        return self._freed.pop(source, None)

    def clear_waiting(self) -> None:
        """Forget the reserved names, whose documents are committed."""
        self._uncommitted.clear()

    def _is_taken(self, source: str, path: str) -> bool:
        holder = self._uncommitted.get(source) or self._writer.origin(source)
        if holder is None or holder == path:
            return False
        if not self._is_gone(holder):
            return True
        # A removed file frees its name: documents of a renamed folder must not all get longer names.
        self._freed[source] = holder
        return False

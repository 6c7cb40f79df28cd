"""Keeps the names of documents apart that come from different files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from anabranch.readers.document import Document
from anabranch.store.file_identity import is_gone
from anabranch.store.records import digest_of
from anabranch.store.writer_protocol import CorpusWriter


class Names:
    """The names in a corpus, and of documents on their way into it."""

    def __init__(self, writer: CorpusWriter, is_gone: Callable[[str], bool] = is_gone) -> None:
        """Start with those in the corpus, and with what tells whether a file is gone."""
        self._writer = writer
        self._is_gone = is_gone
        self._uncommitted: dict[str, str] = {}
        self._given_up: dict[str, str] = {}

    def named(self, document: Document, path: str) -> Document:
        """Return a document under a name that no other file has: the later one takes its folder in front of its own."""
        source = document.source
        if self._is_taken(source, path):
            source = f"{PurePath(path).parent.name or 'files'}/{source}"
        # From the path, so that the same file has the same name in each run, whatever else is in the corpus.
        while self._is_taken(source, path):
            source = f"{digest_of(path)[:6]}/{source}"
        if source == document.source:
            return document
        return replace(document, source=source, key=source if document.key == document.source else document.key)

    def wait(self, source: str, path: str) -> None:
        """Keep a name for a document that is not in the corpus yet."""
        self._uncommitted[source] = path

    def given_up(self, source: str) -> str | None:
        """Return the file that is gone and had a name before; None where there is none, and when asked again."""
        return self._given_up.pop(source, None)

    def committed(self) -> None:
        """Forget those that are in the corpus by now."""
        self._uncommitted.clear()

    def _is_taken(self, source: str, path: str) -> bool:
        holder = self._uncommitted.get(source) or self._writer.origin(source)
        if holder is None or holder == path:
            return False
        if not self._is_gone(holder):
            return True
        # A file that is gone gives its name up: a renamed folder must not leave every document with a longer name.
        self._given_up[source] = holder
        return False

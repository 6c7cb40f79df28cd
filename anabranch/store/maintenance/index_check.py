"""Looks through an index: its files, and whether it is one of the documents that the database holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from anabranch.errors import CorpusDamagedError
from anabranch.store.index.manifest import Manifest, current
from anabranch.store.index.segment_index import Index
from anabranch.store.maintenance.index_comparison import Comparison
from anabranch.store.maintenance.problem import Finding
from anabranch.text.analyzer import analyser


def of_index(folder: Path, connection: sqlite3.Connection, seen: Callable[[], None]) -> Iterator[Finding]:
    """Yield what is wrong with the current index of a corpus whose database is sound.

    Args:
        folder: The corpus.
        connection: In a transaction, so that all is of one moment.
        seen: Told of each document.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    try:
        name = current(folder)
        index = Index(folder, name) if name is not None else None
    except CorpusDamagedError as error:
        yield Finding("index", error.message)
        return
    if index is None:
        if connection.execute("SELECT 1 FROM chunks WHERE level = 2 LIMIT 1").fetchone() is not None:
            yield Finding("behind", "there is no index")
        return
    problems = [*index.damage(), *_of_settings(index.manifest, meta)]
    yield from (Finding("index", problem) for problem in problems)
    if index.manifest.changes != int(meta.get("changes", 0)):
        yield Finding("behind", "the index is of an earlier state of the documents")
    elif not problems:
        yield from Comparison(folder, index, connection, seen).findings()


def of_files(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the files of the current index, where there is no database to compare them with."""
    try:
        name = current(folder)
        problems = Index(folder, name).damage() if name is not None else []
    except CorpusDamagedError as error:
        problems = [error.message]
    yield from (Finding("index", problem) for problem in problems)


def _of_settings(manifest: Manifest, meta: dict[str, str]) -> Iterator[str]:
    language = meta.get("language", "english")
    settings = {
        "embedder": (manifest.embedder, meta.get("embedder", "")),
        "language": (manifest.language, language),
        "analyser": (manifest.analyser, analyser(language).name),
    }
    for name, (has, should) in settings.items():
        if has != should:
            yield f"the index was made with the {name} {has!r}, not {should!r}"

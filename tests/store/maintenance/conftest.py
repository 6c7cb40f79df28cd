"""A small corpus, made once and copied for each test."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus

Change = Callable[..., None]
Sources = Callable[[Path], set[str]]


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("upkeep")
    folder = home / "d"
    folder.mkdir()
    (folder / "a.md").write_text("# Herons\n\nHerons fish at dawn.\n", encoding="utf-8")
    (folder / "old[1].md").write_text("# Swifts\n\nSwifts sleep in the air.\n", encoding="utf-8")
    (folder / "old1.md").write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
    records = [{"id": str(n), "title": "N", "text": f"Bird number {n} sings."} for n in range(3)]
    (folder / "n.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    ingest([folder], home / "c")
    return home


@pytest.fixture
def corpus(_made: Path, tmp_path: Path) -> Path:
    """Six documents of four files, which are at `documents`."""
    return Path(shutil.copytree(_made / "c", tmp_path / "c"))


@pytest.fixture
def documents(_made: Path) -> Path:
    """The files of `corpus`; not to be changed."""
    return _made / "d"


@pytest.fixture
def change() -> Change:
    """Do something to the database behind everybody's back; returns once it is in the file."""

    def run(corpus: Path, sql: str, *parameters: object) -> None:
        connection = sqlite3.connect(corpus / "corpus.db")
        with connection:
            connection.execute(sql, parameters)
        connection.close()

    return run


@pytest.fixture
def sources() -> Sources:
    """The documents that a search for anything finds."""

    def found(corpus: Path) -> set[str]:
        async def work() -> set[str]:
            store = await open_corpus(corpus)
            (ranked,) = await store.search("dense", ["bird"], 100, Scope())
            return {chunk.source for chunk in (await store.chunks(ranked["ids"], Scope())).values()}

        return asyncio.run(work())

    return found


@pytest.fixture
def miswire() -> Callable[[Path], None]:
    """Change a column past the index that SQLite keeps of it, as a defect or a bad disk would."""

    def run(corpus: Path) -> None:
        schema = "UPDATE sqlite_master SET sql = 'CREATE INDEX documents_by_path ON documents ({})' WHERE name = ?"
        for sql, parameters in (
            ("UPDATE documents SET path = path || 'x' WHERE number = 1", ()),
            (schema.format("title"), ("documents_by_path",)),
            ("UPDATE documents SET path = substr(path, 1, length(path) - 1) WHERE number = 1", ()),
            (schema.format("path"), ("documents_by_path",)),
        ):
            connection = sqlite3.connect(corpus / "corpus.db", isolation_level=None)
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(sql, parameters)
            connection.close()

    return run

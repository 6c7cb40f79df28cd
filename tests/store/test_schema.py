"""A corpus of another version is refused, and nothing of it is changed."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import CorpusDamagedError
from anabranch.ingestion.pipeline import ingest
from anabranch.store import schema
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.maintenance import overview, rebuild, remove, verify
from anabranch.store.schema import VERSION, version_of
from anabranch.store.stores import open_corpus
from anabranch_copies.export import export_corpus


@pytest.fixture(scope="module")
def _today(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("schema")
    (home / "d").mkdir()
    (home / "d" / "a.md").write_text("# Herons\n\nHerons fish at dawn.\n", encoding="utf-8")
    parts = "\n\n".join(f"## Part {n}\n\nThe gauge stood at {n} and the weir was open." for n in range(5))
    (home / "d" / "b.md").write_text(f"# Rivers\n\n{parts}\n", encoding="utf-8")
    rows: list[dict[str, Any]] = [{"id": str(n), "text": f"Bird {n} sings.", "year": 2000 + n} for n in range(3)]
    rows[1]["access"] = ["board"]
    (home / "d" / "n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ingest([home / "d"], home / "c")
    return home


@pytest.fixture
def documents(_today: Path) -> Path:
    return _today / "d"


@pytest.fixture
def today(_today: Path) -> Path:
    """The same documents in a corpus of the current version; not to be changed."""
    return _today / "c"


def version(corpus: Path) -> int:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return version_of(connection)


def content(corpus: Path) -> bytes:
    return (corpus / "corpus.db").read_bytes()


@pytest.fixture(params=[(1, "Ingest its documents into a new folder"), (VERSION + 1, "Update Anabranch")])
def other(today: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """A corpus of an earlier or of a later version, and what is to be done about it."""
    number, hint = request.param
    folder = Path(shutil.copytree(today, tmp_path / "other"))
    with closing(sqlite3.connect(folder / "corpus.db")) as connection:
        connection.execute(f"PRAGMA user_version = {number}")
    before = content(folder)
    yield folder, hint
    assert (version(folder), content(folder)) == (number, before)


@pytest.mark.parametrize(
    "use",
    [
        lambda corpus, _: asyncio.run(open_corpus(corpus)),
        lambda corpus, documents: ingest([documents], corpus),
        lambda corpus, _: rebuild(corpus),
        lambda corpus, _: remove(corpus, ["a.md"]),
        lambda corpus, _: overview(corpus),
        lambda corpus, _: verify(corpus),
        lambda corpus, _: export_corpus(corpus, io.BytesIO()),
    ],
    ids=["open", "ingest", "rebuild", "remove", "overview", "verify", "export"],
)
def test_another_version_is_refused_and_left_as_it_is(
    other: tuple[Path, str], documents: Path, use: Callable[[Path, Path], object]
) -> None:
    corpus, hint = other
    with pytest.raises(CorpusDamagedError, match="has version") as caught:
        use(corpus, documents)
    assert hint in (caught.value.hint or "")


def test_an_empty_file_gets_its_tables_at_once(tmp_path: Path) -> None:
    (tmp_path / "corpus.db").touch()
    with closing(CorpusDatabase(tmp_path)) as database:
        assert database.all("PRAGMA foreign_keys") == [(1,)]
        assert database.is_empty()
    assert version(tmp_path) == VERSION


def test_tables_come_all_or_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(schema, "TABLES", schema.TABLES + "INSERT INTO nowhere VALUES (1);")
    with pytest.raises((CorpusDamagedError, sqlite3.OperationalError)):
        CorpusDatabase(tmp_path)
    assert version(tmp_path) == 0
    monkeypatch.undo()
    with closing(CorpusDatabase(tmp_path)) as database:
        assert database.is_empty()

"""Whatever pages of a database are damaged: what SQLite can read is saved exactly, and what it cannot is told of."""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch.chunking.hierarchical_chunker import ChunkNode, Tree
from anabranch.errors import CorpusDamagedError
from anabranch.readers.document import Block, Document
from anabranch.store import corpus_embedder
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index.publisher import publish
from anabranch.store.maintenance import verify
from anabranch.store.records import Grown, content_digest
from anabranch.store.writer_protocol import FileRecord
from anabranch_copies.export import ExportReport, export_corpus, import_corpus
from plugins.copies.tests.export.conftest import WORDS
from tests.ingestion.ingest_runs import Flat

TRIES = 10
"""Databases damaged for each time that the option `--faults` asks for."""

PAGE = 4096
DOCUMENTS = 60
EMBEDDER = "random"


def grown(number: int, dice: random.Random) -> Grown:
    """A document of some leaves; every tenth is long, with rows that go over several pages."""
    size = 900 if number % 10 == 0 else 30
    leaves = [
        f"{' '.join(dice.choices(WORDS, k=dice.randint(5, size)))} {number}.\n\n" for _ in range(dice.randint(1, 9))
    ]
    text = "".join(leaves)
    nodes = [ChunkNode(0, 0, len(text), 1, 1, "", 9, None, text), ChunkNode(1, 0, len(text), 1, 1, "", 9, 0, text)]
    start = 0
    for leaf in leaves:
        nodes.append(ChunkNode(2, start, start + len(leaf), 1, 1, "Part", 9, 1, leaf))
        start += len(leaf)
    document = Document(f"folder/{number}.md", f"Title {number}", (Block(text, 1),), {"year": number}, ("board",))
    return Grown(document, Tree(text, tuple(nodes)), content_digest(document), f"/folder/{number}.md")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of sixty documents, with vectors from nowhere."""
    folder = tmp_path_factory.mktemp("salvage") / "c"
    folder.mkdir()
    dice, numbers = random.Random(3), np.random.default_rng(3)
    with closing(CorpusDatabase(folder)) as database:
        database.set_meta("embedder", EMBEDDER)
        database.set_meta("sizes", "[2048, 512, 128]")
        for number in range(DOCUMENTS):
            each = grown(number, dice)
            missing = database.missing_vectors(each.leaves, EMBEDDER)
            vectors = numbers.standard_normal((len(missing), 8)).astype(np.float32)
            database.add_vectors(list(missing), vectors / np.linalg.norm(vectors, axis=1, keepdims=True), EMBEDDER)
            database.write([each], [FileRecord(each.path, f"{number}.md", "0" * 64, (), complete=False)])
        publish(database)
    assert verify(folder) == []
    return folder


@pytest.fixture
def corpus(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "c"))


def exported(corpus: Path) -> tuple[ExportReport, list[dict[str, Any]]]:
    out = io.BytesIO()
    report = export_corpus(corpus, out)
    return report, [json.loads(line) for line in out.getvalue().decode("utf-8").splitlines()]


def documents(lines: list[dict[str, Any]]) -> dict[str, str]:
    return {line["source"]: json.dumps(line) for line in lines if line["kind"] == "document"}


def garbage(dice: random.Random) -> bytes:
    kind = dice.randrange(4)
    if kind == 0:
        return bytes(PAGE)
    if kind == 1:
        return dice.randbytes(PAGE)
    if kind == 2:
        return b"\x0d" + dice.randbytes(PAGE - 1)
    return b"\xff" * PAGE


def damaged(corpus: Path, dice: random.Random) -> set[int]:
    """Overwrite some pages; return which."""
    content = bytearray((corpus / "corpus.db").read_bytes())
    count = len(content) // PAGE
    pages = {dice.randint(1, count) for _ in range(dice.choice([1, 1, 2, 5, count // 3]))}
    for page in pages:
        content[(page - 1) * PAGE : page * PAGE] = garbage(dice)
    (corpus / "corpus.db").write_bytes(content)
    return pages


@pytest.mark.timeout(3600)
def test_what_can_be_read_is_saved_exactly_and_the_rest_is_told_of(
    made: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    _, whole = exported(made)
    original = documents(whole)
    assert len(original) == DOCUMENTS
    saved = lost = 0
    for seed in range(TRIES * pytestconfig.getoption("--faults")):
        dice = random.Random(seed)
        corpus = Path(shutil.copytree(made, tmp_path / str(seed)))
        damaged(corpus, dice)
        try:
            report, lines = exported(corpus)
        except CorpusDamagedError:  # its settings are lost: nothing is saved, and that is said
            lost += DOCUMENTS
            continue
        found = documents(lines)
        assert found.items() <= original.items(), seed
        assert report.documents == len(found)
        if len(found) < DOCUMENTS:
            assert not report.is_complete, seed
        assert lines[-1]["kind"] == "end"
        saved, lost = saved + len(found), lost + DOCUMENTS - len(found)
        shutil.rmtree(corpus)
    assert saved > lost > 0


def roots(corpus: Path) -> Iterator[tuple[str, int]]:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        yield from connection.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0").fetchall()
    yield "the file", 1


@pytest.mark.parametrize("table", ["files", "vectors"])
def test_a_lost_root_of_another_table_costs_no_document(made: Path, corpus: Path, table: str) -> None:
    _, whole = exported(made)
    overwritten(corpus, dict(roots(corpus))[table])
    report, lines = exported(corpus)
    assert documents(lines) == documents(whole)
    assert report.torn == []
    assert lines[0]["embedder"] == EMBEDDER


def test_where_no_document_can_be_found_any_more_that_is_told_of(corpus: Path) -> None:
    overwritten(corpus, dict(roots(corpus))["documents"])
    report, lines = exported(corpus)
    assert report.documents == 0
    assert report.problems != []
    assert lines[-1]["kind"] == "end"


@pytest.mark.parametrize("table", ["the file", "meta"])
def test_without_the_settings_there_is_no_export_but_an_error_that_says_what_to_do(corpus: Path, table: str) -> None:
    overwritten(corpus, dict(roots(corpus))[table])
    with pytest.raises(CorpusDamagedError) as caught:
        exported(corpus)
    assert "Ingest the documents into a new folder" in (caught.value.hint or "")


def test_up_to_a_damaged_page_of_the_table_documents_are_saved(made: Path, corpus: Path) -> None:
    original = documents(exported(made)[1])
    leaves = leaves_of_documents(made)
    assert len(leaves) >= 3
    overwritten(corpus, leaves[1])
    report, lines = exported(corpus)
    found = documents(lines)
    assert 0 < len(found) < DOCUMENTS
    assert found.items() <= original.items()
    assert not report.is_complete


def overwritten(corpus: Path, page: int) -> None:
    content = bytearray((corpus / "corpus.db").read_bytes())
    content[(page - 1) * PAGE : page * PAGE] = random.Random(5).randbytes(PAGE)
    (corpus / "corpus.db").write_bytes(content)


def leaves_of_documents(corpus: Path) -> list[int]:
    """Return the leaf pages of the table of documents, in the order of its rows: the root names all but the last."""
    content = (corpus / "corpus.db").read_bytes()
    root = dict(roots(corpus))["documents"]
    page = content[(root - 1) * PAGE : root * PAGE]
    assert page[0] == 5  # an interior page of a table
    cells = int.from_bytes(page[3:5], "big")
    places = [int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big") for n in range(cells)]
    return [int.from_bytes(page[place : place + 4], "big") for place in places] + [int.from_bytes(page[8:12], "big")]


def test_a_torn_document_is_named_and_left_out(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_embedder, "load_embedder", lambda spec, url, progress: Flat())
    with closing(sqlite3.connect(corpus / "corpus.db", isolation_level=None)) as connection:
        connection.execute(
            "DELETE FROM chunks WHERE chunk_id IN (SELECT chunk_id FROM chunks JOIN documents USING (doc_id) "
            "WHERE source = 'folder/7.md' AND level = 2 ORDER BY start LIMIT 1)"
        )
    report, lines = exported(corpus)
    assert [torn.source for torn in report.torn] == ["folder/7.md"]
    assert "a passage is missing" in report.torn[0].why
    assert "folder/7.md" not in documents(lines)
    out = tmp_path / "out.jsonl"
    with out.open("wb") as file:
        export_corpus(corpus, file)
    with out.open("rb") as file:
        taken = import_corpus(file, tmp_path / "new", embedder="minilm")
    assert (taken.added, taken.bad) == (DOCUMENTS - 1, [])
    assert verify(tmp_path / "new") == []


@pytest.mark.parametrize("left", [0, 1000, 60_000])
def test_a_database_cut_short_is_said(corpus: Path, left: int) -> None:
    (corpus / "corpus.db").write_bytes((corpus / "corpus.db").read_bytes()[:left])
    with pytest.raises(CorpusDamagedError):
        exported(corpus)

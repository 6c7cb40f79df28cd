"""Whatever pages of a database are damaged: what is whole is saved exactly, and what is not is told of."""

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

from anabranch.corpus.document import Block, Document
from anabranch.corpus.portable import ExportReport, export_corpus, import_corpus
from anabranch.corpus.portable.pages import Pages
from anabranch.corpus.rows import Grown, content_digest
from anabranch.corpus.segments.publishing import publish
from anabranch.corpus.tree import Node, Tree
from anabranch.corpus.truth import FileRecord, Truth
from anabranch.corpus.upkeep import verify
from tests.corpus.portable.conftest import WORDS

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
    nodes = [Node(0, 0, len(text), 1, 1, "", 9, None, text), Node(1, 0, len(text), 1, 1, "", 9, 0, text)]
    start = 0
    for leaf in leaves:
        nodes.append(Node(2, start, start + len(leaf), 1, 1, "Part", 9, 1, leaf))
        start += len(leaf)
    document = Document(f"folder/{number}.md", f"Title {number}", (Block(text, 1),), {"year": number}, ("board",))
    return Grown(document, Tree(text, tuple(nodes)), content_digest(document), f"/folder/{number}.md")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of sixty documents, with vectors from nowhere."""
    folder = tmp_path_factory.mktemp("salvage") / "c"
    folder.mkdir()
    dice, numbers = random.Random(3), np.random.default_rng(3)
    with closing(Truth(folder)) as truth:
        truth.set_meta("embedder", EMBEDDER)
        truth.set_meta("sizes", "[2048, 512, 128]")
        for number in range(DOCUMENTS):
            each = grown(number, dice)
            missing = truth.missing_vectors(each.leaves, EMBEDDER)
            vectors = numbers.standard_normal((len(missing), 8)).astype(np.float32)
            truth.add_vectors(list(missing), vectors / np.linalg.norm(vectors, axis=1, keepdims=True), EMBEDDER)
            truth.write([each], [FileRecord(each.path, f"{number}.md", "0" * 64, (), complete=False)])
        publish(folder, truth)
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


class Where(Pages):
    """Notes on which pages the rows of each document lie."""

    def __init__(self, database: Path) -> None:
        self.asked: set[int] = set()
        super().__init__(database)

    def page(self, number: int) -> bytes:
        self.asked.add(number)
        return super().page(number)

    def by_document(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for number in range(1, self.count + 1):
            rows = self._rows_of(number)
            while True:
                self.asked = {number}
                try:
                    _, values = next(rows)
                except StopIteration:
                    break
                doc_id = values[1] if len(values) in (12, 13) else None
                if isinstance(doc_id, str):
                    found.setdefault(doc_id, set()).update(self.asked)
        return found


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
def test_what_lies_on_sound_pages_is_saved_exactly_and_the_rest_is_told_of(
    made: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    _, whole = exported(made)
    original = documents(whole)
    assert len(original) == DOCUMENTS
    with Where(made / "corpus.db") as where:
        places = where.by_document()
    ids = _ids(made)
    saved = lost = 0
    for seed in range(TRIES * pytestconfig.getoption("--faults")):
        dice = random.Random(seed)
        corpus = Path(shutil.copytree(made, tmp_path / str(seed)))
        pages = damaged(corpus, dice)
        report, lines = exported(corpus)
        found = documents(lines)
        assert found.items() <= original.items(), seed
        untouched = {source for source, doc_id in ids.items() if not places[doc_id] & pages}
        assert untouched <= set(found), (seed, pages)
        assert report.documents == len(found)
        assert len(found) + len(report.torn) + report.unknown >= DOCUMENTS, seed
        if len(found) < DOCUMENTS:
            assert not report.is_complete
        assert lines[-1]["kind"] == "end"
        saved, lost = saved + len(found), lost + DOCUMENTS - len(found)
        shutil.rmtree(corpus)
    assert saved > lost > 0


def _ids(corpus: Path) -> dict[str, str]:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return dict(connection.execute("SELECT source, doc_id FROM documents"))


def roots(corpus: Path) -> Iterator[tuple[str, int]]:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        yield from connection.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0").fetchall()
    yield "the file", 1


@pytest.mark.parametrize("table", ["the file", "documents", "chunks", "files", "meta", "vectors", "chunks_by_document"])
def test_a_lost_root_costs_no_document(made: Path, corpus: Path, table: str) -> None:
    _, whole = exported(made)
    page = dict(roots(corpus))[table]
    content = bytearray((corpus / "corpus.db").read_bytes())
    content[(page - 1) * PAGE : page * PAGE] = random.Random(5).randbytes(PAGE)
    (corpus / "corpus.db").write_bytes(content)
    report, lines = exported(corpus)
    assert documents(lines) == documents(whole)
    assert (report.torn, report.unknown) == ([], 0)
    if table not in ("meta", "vectors"):
        assert report.problems != []
    assert lines[0]["embedder"] == EMBEDDER


def test_what_is_left_of_a_torn_document_can_be_read_and_is_not_taken_in(corpus: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(corpus / "corpus.db", isolation_level=None)) as connection:
        connection.execute(
            "DELETE FROM chunks WHERE chunk_id IN (SELECT chunk_id FROM chunks JOIN documents USING (doc_id) "
            "WHERE source = 'folder/7.md' AND level = 2 ORDER BY start LIMIT 1)"
        )
    report, lines = exported(corpus)
    assert [torn.source for torn in report.torn] == ["folder/7.md"]
    (torn,) = (line for line in lines if line["kind"] == "torn")
    assert torn["passages"]
    assert "folder/7.md" not in documents(lines)
    out = tmp_path / "out.jsonl"
    with out.open("wb") as file:
        export_corpus(corpus, file)
    with out.open("rb") as file:
        taken = import_corpus(file, tmp_path / "new", embedder="minilm")
    assert taken.added == DOCUMENTS - 1
    assert [bad.source for bad in taken.bad] == ["folder/7.md"]
    assert "torn" in taken.bad[0].reason
    assert verify(tmp_path / "new") == []


def test_a_database_cut_short_gives_what_is_left(made: Path, corpus: Path) -> None:
    original = documents(exported(made)[1])
    content = (corpus / "corpus.db").read_bytes()
    (corpus / "corpus.db").write_bytes(content[: len(content) // 2 + 1000])
    report, lines = exported(corpus)
    assert 0 < len(documents(lines)) < DOCUMENTS
    assert documents(lines).items() <= original.items()
    assert report.documents + len(report.torn) + report.unknown >= DOCUMENTS


def test_a_database_that_is_gone_but_for_its_name_is_said(corpus: Path) -> None:
    (corpus / "corpus.db").write_bytes(b"")
    report, lines = exported(corpus)
    assert (report.documents, report.unknown) == (0, DOCUMENTS)
    assert [line["kind"] for line in lines] == ["corpus", "end"]

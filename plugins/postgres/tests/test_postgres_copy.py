"""A corpus moves from any store to any other, and what arrives is compared passage by passage."""

from __future__ import annotations

import asyncio
import io
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from anabranch import ingest
from anabranch.errors import CorpusNotFoundError, UserError
from anabranch.store.maintenance import overview, remove, verify
from anabranch.store.records import content_digest, digest_of
from anabranch.store.stores import open_snapshot, open_writer
from anabranch.store.writer_protocol import Summary, SummaryWriter
from anabranch_conformance.corpus_contents import DOCUMENTS, note, take_in
from anabranch_copies.export import copy_corpus, export_corpus, line_import
from anabranch_copies.export.json_lines import record_of
from plugins.postgres.tests.test_postgres_corpus import fill, told
from tests.shared_fixtures import REPOSITORY

pytestmark = pytest.mark.loopback

SAMPLES = REPOSITORY / "tests" / "samples"
ODD = note("odd", "Ödd", "The bleak swims.", ["board"], deep={"x": [1.5, None, True]}, large=10**17, lines="a\nb\u2028")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with tags, metadata, pages and files; not to be changed."""
    folder = str(tmp_path_factory.mktemp("full") / "c")
    fill(folder)
    with open_writer(folder) as writer:
        take_in(writer, {"/notes.jsonl#odd": [ODD]})
        assert isinstance(writer, SummaryWriter)
        writer.keep_summaries([Summary(digest_of(ODD.source), content_digest(ODD), "About bleaks.")])
    ingest([SAMPLES], folder, prune=False)
    return folder


def lines(corpus: str) -> list[dict[str, Any]]:
    """All of a corpus, but for the order in which it came."""
    out = io.BytesIO()
    assert export_corpus(corpus, out, vectors=True).is_complete
    records = [record_of(line) for line in out.getvalue().splitlines(keepends=True)]
    return sorted(records, key=lambda record: (record["kind"], record.get("path", ""), record.get("source", "")))


def facts(corpus: str) -> dict[str, str]:
    with open_snapshot(corpus) as snapshot:
        return {name: value for name, value in snapshot.facts().items() if value}


def summaries(corpus: str) -> list[Summary]:
    with open_snapshot(corpus) as snapshot:
        return list(snapshot.summaries())


@pytest.mark.parametrize("way", ["folder to database", "database to folder", "to folder", "database to database"])
def test_all_of_it_arrives(full: str, corpus: str, tmp_path: Path, way: str) -> None:
    source = full
    if way.startswith("database"):
        source = f"{corpus}-from"
        assert copy_corpus(full, source).problems == []
    target = corpus if way.endswith("database") else str(tmp_path / "c")
    report = copy_corpus(source, target)
    assert report.problems == []
    assert (report.documents, report.passages) == (overview(full).documents, overview(full).leaves)
    assert lines(target) == lines(full)
    assert facts(target) == facts(full)
    assert [summary.text for summary in summaries(target)] == ["About bleaks."]
    assert summaries(target) == summaries(full)
    assert verify(target) == []
    assert asyncio.run(told(target)) == asyncio.run(told(full))
    assert {row.status for row in ingest([SAMPLES], target, prune=False).rows} == {"unchanged"}


def test_no_embedder_is_asked(full: str, corpus: str, tmp_path: Path) -> None:
    own = str(tmp_path / "own")
    assert copy_corpus(full, own).problems == []
    with open_writer(own) as writer:
        writer.keep_meta({"spec": "/nowhere", "base_url": "http://127.0.0.1:9", "language": "german"})
    assert copy_corpus(own, corpus).problems == []
    assert facts(corpus) == facts(own)


RUN = """
import sys
from anabranch_copies.export import copy_corpus, line_import
line_import.PENDING_LEAVES = 1
copy_corpus(sys.argv[1], sys.argv[2], progress=lambda stage, done, *_: print(stage, done, flush=True))
"""


# Each stage into a database; into a folder the stages are the same code, and one of them stands for the others.
@pytest.mark.parametrize(
    ("to", "until"),
    [
        pytest.param("database", "documents 1", marks=pytest.mark.exhaustive),
        ("database", "documents 5"),
        ("database", "index"),
        ("database", "compared 1"),
        *(
            pytest.param("folder", each, marks=pytest.mark.exhaustive)
            for each in ("documents 1", "index", "compared 1")
        ),
        ("folder", "documents 5"),
    ],
)
def test_a_killed_copy_goes_on_where_it_was(full: str, corpus: str, tmp_path: Path, to: str, until: str) -> None:
    target = corpus if to == "database" else str(tmp_path / "c")
    with subprocess.Popen([sys.executable, "-c", RUN, full, target], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line.startswith(until) for line in process.stdout)
        process.send_signal(signal.SIGKILL)
    there = overview(target).documents
    report = copy_corpus(full, target, wait=30)
    assert report.problems == []
    assert report.unchanged == there
    assert report.documents + report.unchanged == overview(full).documents
    assert lines(target) == lines(full)
    assert verify(target) == []
    with pytest.raises(UserError, match="already holds documents"):
        copy_corpus(full, target)


def test_an_interrupted_copy_goes_on_where_it_was(full: str, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_import, "PENDING_LEAVES", 1)

    def stop(stage: str, done: int, total: int, detail: str = "") -> None:
        if (stage, done) == ("documents", 4):
            raise KeyboardInterrupt

    report = copy_corpus(full, corpus, progress=stop)
    assert (report.interrupted, report.documents, report.passages) == (True, 3, 0)
    assert copy_corpus(full, corpus).unchanged == 3


def test_what_changed_before_it_went_on_is_copied_again(full: str, corpus: str, tmp_path: Path) -> None:
    own = str(tmp_path / "own")
    copy_corpus(full, own)

    def stop(stage: str, *_: object, **__: object) -> None:
        if stage == "index":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        copy_corpus(own, corpus, progress=stop)
    with open_writer(own) as writer:
        take_in(writer, {"/notes.jsonl#weir": [note("weir", "The weir", "The weir is gone.", ["board"])]})
        writer.publish()
    remove(own, "notes.jsonl#mill")
    report = copy_corpus(own, corpus)
    assert report.documents == 1
    # Taken out by somebody who knows why: a copy removes nothing.
    assert "notes.jsonl#mill: only the copy has it" in report.problems
    remove(corpus, "notes.jsonl#mill")
    assert copy_corpus(own, corpus).problems == []


def test_a_corpus_that_holds_something_else_is_left_alone(full: str, corpus: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    for target in (corpus, other):
        fill(target, **{"/weir": [DOCUMENTS[0]]})
        before = lines(target), facts(target)
        with pytest.raises(UserError, match="already holds documents"):
            copy_corpus(full, target)
        assert (lines(target), facts(target)) == before
    unfinished = f"{corpus}-unfinished"
    with open_writer(unfinished) as writer:
        writer.keep_meta({"copy_of": other})
    with pytest.raises(UserError, match="unfinished copy of another corpus") as raised:
        copy_corpus(full, unfinished)
    assert other in str(raised.value)
    assert facts(unfinished) == {"copy_of": other}


def test_a_copy_of_vectors_of_another_embedder_does_not_go_on(full: str, corpus: str, tmp_path: Path) -> None:
    own = str(tmp_path / "own")
    copy_corpus(full, own)
    copy_corpus(full, corpus)
    with open_writer(corpus) as writer:
        writer.keep_meta({"copy_of": own, "embedder": "another"})
    with pytest.raises(UserError, match="had the embedder 'another'"):
        copy_corpus(own, corpus)


def test_where_there_is_no_corpus_none_is_made(corpus: str, database: str, tmp_path: Path) -> None:
    for source in (f"{database}#nobody", str(tmp_path / "nobody")):
        for target in (corpus, str(tmp_path / "new")):
            with pytest.raises(CorpusNotFoundError):
                copy_corpus(source, target)
    assert not (tmp_path / "new").exists()
    with pytest.raises(CorpusNotFoundError):
        overview(corpus)


def test_what_is_not_whole_is_told_and_can_be_copied_later(full: str, corpus: str, tmp_path: Path) -> None:
    own = str(tmp_path / "own")
    copy_corpus(full, own)

    def change(sql: str) -> None:
        with closing(sqlite3.connect(f"{own}/corpus.db", isolation_level=None)) as connection:
            connection.execute(sql)

    change("CREATE TABLE kept AS SELECT * FROM vectors")
    bees = "(SELECT vector_key FROM chunks JOIN documents USING (doc_id) WHERE source = 'notes.jsonl#bees')"
    change(f"DELETE FROM vectors WHERE vector_key IN {bees}")
    change("UPDATE chunks SET text = replace(text, 'grinds', 'grinns')")
    report = copy_corpus(own, corpus)
    assert "notes.jsonl#bees: not copied, one of its passages has no usable vector" in report.problems
    assert "notes.jsonl#mill: not copied, a passage is not what was written" in report.problems
    change("INSERT OR IGNORE INTO vectors SELECT * FROM kept")
    change("UPDATE chunks SET text = replace(text, 'grinns', 'grinds')")
    report = copy_corpus(own, corpus)
    assert (report.documents, report.problems) == (2, [])


MILL = "(SELECT number FROM anabranch.documents d WHERE source = 'notes.jsonl#mill' AND d.corpus = t.corpus)"
BROKEN = {
    "UPDATE anabranch.documents t SET title = 'Cats' WHERE number = {mill}": "its title differs",
    "UPDATE anabranch.documents t SET metadata = '{{\"year\": 1791}}' WHERE number = {mill}": "its metadata differs",
    "UPDATE anabranch.documents t SET audience = (SELECT id FROM anabranch.audiences a WHERE a.corpus = t.corpus "
    "AND tags = '{{board}}') WHERE number = {mill}": "its access differs",
    "UPDATE anabranch.chunks t SET text = 'x' || text WHERE document = {mill} AND level = 2": (
        "one of its passages differs"
    ),
    "UPDATE anabranch.chunks t SET heading = 'x' WHERE document = {mill} AND level = 0": "one of its passages differs",
    "DELETE FROM anabranch.chunks t WHERE document = {mill} AND level = 0": "one of its passages differs",
    "UPDATE anabranch.leaves t SET vector = (SELECT vector FROM anabranch.leaves l WHERE l.corpus = t.corpus AND "
    "l.document <> t.document ORDER BY l.id LIMIT 1) WHERE document = {mill}": "one of its vectors differs",
    "DELETE FROM anabranch.leaves t WHERE document = {mill}": "one of its vectors differs",
    "DELETE FROM anabranch.documents t WHERE number = {mill}": "it is not in the copy",
    "UPDATE anabranch.files t SET sha256 = '' WHERE true": "the record of the file notes.jsonl#mill differs",
    "DELETE FROM anabranch.files t WHERE true": "the record of the file notes.jsonl#mill differs",
    "UPDATE anabranch.meta t SET value = 'german' WHERE name = 'language'": "the fact 'language' is 'german'",
}


@pytest.mark.parametrize("sql", BROKEN)
def test_what_differs_is_told(full: str, corpus: str, database: str, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    published = line_import.LineImport.commit

    def spoilt(run: line_import.LineImport) -> None:
        published(run)
        with psycopg.connect(database, autocommit=True) as connection:
            this = "(SELECT id FROM anabranch.corpora WHERE name = %s)"
            statement = f"{sql.format(mill=MILL)} AND t.corpus = {this}"
            assert connection.execute(statement.encode(), (corpus.partition("#")[2],)).rowcount > 0

    with monkeypatch.context() as patched:
        patched.setattr(line_import.LineImport, "commit", spoilt)
        report = copy_corpus(full, corpus)
    assert any(BROKEN[sql] in problem for problem in report.problems), report.problems
    # It is not taken for finished.
    assert facts(corpus)["copy_of"] == full

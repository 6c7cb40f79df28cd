"""A copy in another folder is the same corpus; copies to and from a database are tested in plugins/postgres/tests."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.errors import CorpusLockedError, CorpusNotFoundError, SettingsError, UserError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.maintenance import remove, verify
from anabranch.store.stores import open_corpus, open_snapshot
from anabranch.store.write_lock import hold_write_lock
from anabranch_copies.export import copy_corpus
from plugins.copies.tests.export.conftest import rows_of, vectors_of
from tests.cli.conftest import Run, run  # noqa: F401  # a fixture


def change(corpus: Path, sql: str) -> None:
    with closing(sqlite3.connect(corpus / "corpus.db", isolation_level=None)) as connection:
        connection.execute(sql)


def test_it_is_the_same_corpus(corpus: Path, documents: Path, tmp_path: Path) -> None:
    report = copy_corpus(corpus, tmp_path / "new")
    assert (report.documents, report.files, report.passages, report.problems) == (8, 4, len(vectors_of(corpus)), [])
    assert rows_of(tmp_path / "new") == rows_of(corpus)
    assert vectors_of(tmp_path / "new") == vectors_of(corpus)
    assert verify(tmp_path / "new") == []
    assert ingest([documents], tmp_path / "new").count("unchanged") == 4


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE documents SET title = 'Cats' WHERE source = 'a.md'", "a.md: its title differs"),
        ("UPDATE documents SET access = '[\"x\"]' WHERE source = 'a.md'", "a.md: its access differs"),
        ("UPDATE documents SET pages = '[]' WHERE source = 'survey.pdf'", "survey.pdf: its pages differs"),
        ("UPDATE chunks SET page_end = 9 WHERE page_end = 3", "survey.pdf: one of its passages differs"),
        ("UPDATE chunks SET heading = 'x' WHERE level = 1", "a.md: one of its passages differs"),
        (
            "UPDATE vectors SET vector = (SELECT vector FROM vectors v ORDER BY rowid LIMIT 1)",
            "one of its vectors differs",
        ),
        ("DELETE FROM documents WHERE source = 'a.md'", ""),
        ("DELETE FROM files", ""),
        ("UPDATE meta SET value = 'x' WHERE name = 'spec'", ""),
    ],
)
def test_what_differs_is_told_and_what_is_missing_is_written_again(
    corpus: Path, tmp_path: Path, sql: str, said: str
) -> None:
    new, is_written_again = tmp_path / "new", not said

    def stop(stage: str, *_: object, **__: object) -> None:
        if stage == "index":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        copy_corpus(corpus, new, progress=stop)
    change(new, sql)
    report = copy_corpus(corpus, new)
    if is_written_again:
        assert report.problems == []
        assert rows_of(new) == rows_of(corpus)
    else:
        assert any(said in problem for problem in report.problems), report.problems
        # It is not taken for finished.
        with open_snapshot(new) as snapshot:
            assert snapshot.facts()["copy_of"] == str(corpus)


def test_what_cannot_be_compared_is_not_written(corpus: Path, tmp_path: Path) -> None:
    for source, target in ((corpus, "memory:copy"), ("memory:copy", tmp_path / "new")):
        with pytest.raises(SettingsError, match="cannot be read as a whole"):
            copy_corpus(source, target)
    assert not (tmp_path / "new").exists()
    with pytest.raises(CorpusNotFoundError):
        asyncio.run(open_corpus("memory:copy"))


def test_a_corpus_onto_itself_is_refused(corpus: Path) -> None:
    before = rows_of(corpus)
    with pytest.raises(UserError, match="already holds documents"):
        copy_corpus(corpus, corpus)
    assert rows_of(corpus) == before


def test_an_empty_corpus_stays_empty(corpus: Path, tmp_path: Path) -> None:
    remove(corpus, "*")
    report = copy_corpus(corpus, tmp_path / "new")
    assert (report.documents, report.files, report.problems) == (0, 4, [])
    assert rows_of(tmp_path / "new") == rows_of(corpus)


def test_a_second_writer_is_refused(corpus: Path, tmp_path: Path) -> None:
    copy_corpus(corpus, tmp_path / "new")
    with hold_write_lock(tmp_path / "new"), pytest.raises(CorpusLockedError):
        copy_corpus(corpus, tmp_path / "new")


def test_the_command_says_what_was_not_copied(run: Run, corpus: Path, tmp_path: Path) -> None:  # noqa: F811
    change(corpus, "DELETE FROM vectors WHERE rowid = 1")
    torn = run("corpus", "copy", corpus, tmp_path / "new")
    assert torn.exit_code == 1
    assert "not copied, one of its passages has no usable vector" in torn.stdout
    assert run("corpus", "rebuild", "--corpus", corpus).exit_code == 0
    mended = run("corpus", "copy", corpus, tmp_path / "new", "--json")
    assert mended.exit_code == 0
    report = json.loads(mended.stdout)
    assert (report["documents"], report["unchanged"], report["problems"]) == (1, 7, [])

"""An index is of its database and of no other: not after a restore, and not by chance."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.errors import IndexDamagedError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.corpus_facts import history_in
from anabranch.store.corpus_handles import open_folder
from anabranch.store.index import publisher
from anabranch.store.index.manifest import current_name
from anabranch.store.index.publisher import publish
from anabranch.store.maintenance import REMEDIES, examine, verify
from anabranch.store.maintenance.corpus_list import overview
from anabranch.store.protocol import Scope
from anabranch.store.write_lock import hold_write_lock
from tests.store.index.filling import alive, grown, opened, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "d"
    home.mkdir()
    tell(home, "a", "Herons fish at dawn.")
    tell(home, "b", "Owls hunt at night.")
    return home


@pytest.fixture
def corpus(folder: Path, tmp_path: Path) -> Path:
    ingest([folder], tmp_path / "c")
    return tmp_path / "c"


def tell(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")


def found(corpus: Path, query: str) -> list[str]:
    async def search() -> list[str]:
        store = open_folder(corpus)
        (ranked,) = await store.search("bm25", [query], 10, Scope())
        return sorted(chunk.source for chunk in (await store.chunks(ranked["ids"], Scope())).values())

    return asyncio.run(search())


def put_back(backup: Path, corpus: Path) -> None:
    """Restore a database as a new file, as backups do."""
    shutil.copy(backup, corpus / "restored")
    os.replace(corpus / "restored", corpus / "corpus.db")


def test_a_database_that_was_deleted_loses_no_edited_document(
    folder: Path, corpus: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tell(folder, "a", "Swifts sleep in the air.")
    for path in corpus.glob("corpus.db*"):
        path.unlink()
    assert ingest([folder], corpus).count("added") == 2
    assert "Rebuilding the index" in caplog.text
    assert (found(corpus, "swifts"), found(corpus, "owls"), found(corpus, "herons")) == (["a.md"], ["b.md"], [])
    assert verify(corpus) == []


@pytest.mark.parametrize("is_open", [True, False])
def test_a_database_that_was_restored_loses_no_edited_document(
    folder: Path, corpus: Path, tmp_path: Path, is_open: bool
) -> None:
    shutil.copy(corpus / "corpus.db", tmp_path / "backup")
    tell(folder, "a", "Swifts sleep in the air.")
    ingest([folder], corpus)
    # The handle and its caches are of the later state.
    assert not is_open or found(corpus, "swifts") == ["a.md"]
    put_back(tmp_path / "backup", corpus)
    (problem,) = verify(corpus)
    assert "newer than the documents" in problem
    # A rebuild would forget that something was lost.
    assert {REMEDIES[finding.kind].partition(":")[0] for finding in examine(corpus) if not finding.is_remark} == {
        "Ingest the folders again"
    }
    assert not overview(corpus).is_current
    tell(folder, "a", "Otters sleep in the weir.")
    ingest([folder], corpus)
    assert (found(corpus, "otters"), found(corpus, "swifts")) == (["a.md"], [])
    assert verify(corpus) == []


def test_a_restored_database_is_searched_as_it_is(
    folder: Path, corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copy(corpus / "corpus.db", tmp_path / "backup")
    tell(folder, "a", "Swifts sleep in the air.")
    ingest([folder], corpus)
    assert found(corpus, "swifts") == ["a.md"]
    put_back(tmp_path / "backup", corpus)
    assert (found(corpus, "herons"), found(corpus, "swifts")) == (["a.md"], [])
    assert "was replaced or lost changes. Rebuilding it from" in caplog.text
    # The same state once more: nothing to make anew, and the open handle is not in the way.
    name = current_name(corpus)
    shutil.copy(corpus / "corpus.db", tmp_path / "backup")
    put_back(tmp_path / "backup", corpus)
    assert found(corpus, "herons") == ["a.md"]
    assert current_name(corpus) == name


def test_a_database_that_was_replaced_is_an_error_while_nobody_can_make_the_index(
    folder: Path, corpus: Path, tmp_path: Path
) -> None:
    ingest([folder], tmp_path / "other")
    put_back(tmp_path / "other" / "corpus.db", corpus)
    with hold_write_lock(corpus), pytest.raises(IndexDamagedError, match=r"is not of .*corpus.db as it is now"):
        open_folder(corpus)
    assert len(verify(corpus)) == 1


def test_a_copied_folder_goes_on_as_it_is(
    folder: Path, corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    copy = shutil.copytree(corpus, tmp_path / "copy")
    assert found(copy, "herons") == ["a.md"]
    assert current_name(copy) == current_name(corpus)
    tell(folder, "a", "Swifts sleep in the air.")
    for each in (corpus, copy):
        ingest([folder], each)
        assert found(each, "swifts") == ["a.md"]
        assert verify(each) == []
    assert caplog.messages == []
    # They part here: an index of one is none of the other, though both changed as often.
    for part in ("generations", "segments"):
        shutil.copytree(copy / part, corpus / part, dirs_exist_ok=True)
    shutil.copy(copy / "CURRENT", corpus)
    assert len(verify(corpus)) == 1
    assert found(corpus, "swifts") == ["a.md"]
    assert verify(corpus) == []
    assert "Rebuilding" in caplog.text


@pytest.mark.parametrize("killed_in", ["write_generation", "_forget_retired"])
def test_a_publication_that_was_killed_is_added_to_by_the_next(
    tmp_path: Path, killed_in: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def die(*_: object) -> None:
        raise ZeroDivisionError

    with hold_write_lock(tmp_path), closing(opened(tmp_path)) as database:
        write(database, [grown("a", ["heron dawn"]), grown("b", ["owl reed"])])
        publish(database)
        write(database, [grown("a", ["swift weir"])])
        with monkeypatch.context() as dying, pytest.raises(ZeroDivisionError):
            dying.setattr(publisher, killed_in, die)
            publish(database)
        write(database, [grown("b", ["owl flood"])])
        assert verify(tmp_path) == []
        assert [finding.is_remark for finding in examine(tmp_path) if "older" in finding.said] == [True]
        manifest = publish(database)
        assert manifest is not None
        assert manifest.leaves == len(alive(database)) == 2
    assert caplog.messages == []
    assert verify(tmp_path) == []


def test_no_two_histories_come_to_the_same_count(tmp_path: Path) -> None:
    counts: list[int] = []
    for number in range(50):
        (tmp_path / str(number)).mkdir()
        with closing(opened(tmp_path / str(number))) as database:
            for name in "abc":
                write(database, [grown(name, ["heron"])])
                counts.append(database.changes)
        assert counts[-3:] == sorted(counts[-3:])
    assert len(set(counts)) == 150


@pytest.mark.parametrize("name", ["changes", "indexed"])
def test_a_count_that_is_none_is_damage(name: str, corpus: Path) -> None:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        connection.execute("UPDATE meta SET value = '12x' WHERE name = ?", (name,))
        with pytest.raises(sqlite3.DatabaseError, match="is not a number"):
            history_in(connection)

"""Making a corpus small."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from anabranch.errors import CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.corpus_folder import size_of
from anabranch.store.index.manifest import current, read_manifest
from anabranch.store.maintenance import compact, remove, verify
from anabranch.store.passage_reader import read_only
from tests.store.maintenance.conftest import Sources


@pytest.fixture
def fragmented(corpus: Path, tmp_path: Path) -> Path:
    """A corpus with two segments, dead rows, and free pages."""
    more = tmp_path / "more"
    more.mkdir()
    for n in range(6):
        (more / f"{n}.md").write_text(f"# Note {n}\n\n" + f"Line {n} of the long note. " * 40, encoding="utf-8")
    ingest([more], corpus, prune=False)
    remove(corpus, ["[123].md"])
    return corpus


def test_everything_is_there_in_less_room(fragmented: Path, sources: Sources) -> None:
    before, size = sources(fragmented), size_of(fragmented)
    told: list[str] = []
    done = compact(fragmented, progress=lambda stage, _done, _total: told.append(stage))
    assert done.before == size
    assert done.after == size_of(fragmented) < done.before
    assert done.unfinished == ""
    assert told == ["merge", "database"]
    assert sources(fragmented) == before
    assert verify(fragmented) == []
    assert len(read_manifest(fragmented, str(current(fragmented))).segments) == 1
    assert len(list((fragmented / "generations").iterdir())) == 1
    with closing(sqlite3.connect(fragmented / "corpus.db")) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        unused = "SELECT count(*) FROM vectors WHERE vector_key NOT IN (SELECT vector_key FROM chunks WHERE level = 2)"
        assert connection.execute(unused).fetchone() == (0,)
    assert (fragmented / "corpus.db-wal").stat().st_size == 0 if (fragmented / "corpus.db-wal").exists() else True


def test_a_second_time_there_is_nothing_to_do(fragmented: Path) -> None:
    first = compact(fragmented)
    name = current(fragmented)
    second = compact(fragmented)
    assert (second.before, second.after) == (first.after, first.after)
    assert current(fragmented) == name


def test_a_reader_keeps_its_view_and_is_told_of(fragmented: Path) -> None:
    with closing(read_only(fragmented / "corpus.db")) as reader:
        reader.execute("BEGIN")
        count = reader.execute("SELECT count(*) FROM documents").fetchone()
        # A writer that waits for the reader to end before it cuts the log would wait here for good.
        done = compact(fragmented)
        assert "somebody is reading" in done.unfinished
        assert reader.execute("SELECT count(*) FROM documents").fetchone() == count
    assert compact(fragmented).unfinished == ""


class _Disk(NamedTuple):
    total: int
    used: int
    free: int


@pytest.mark.parametrize("usage", [_Disk(10**9, 10**9, 0), _Disk(10**9, 10**9 - 20_000, 20_000)])
def test_without_room_for_a_copy_the_database_is_left_as_it_is(
    fragmented: Path, monkeypatch: pytest.MonkeyPatch, usage: _Disk
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: usage)
    done = compact(fragmented)
    assert f"{usage.free:,} bytes free" in done.unfinished
    assert verify(fragmented) == []
    monkeypatch.undo()
    assert compact(fragmented).after < done.after


def test_an_empty_corpus_is_compacted(corpus: Path) -> None:
    remove(corpus, ["*"])
    assert compact(corpus).after < size_of(corpus) + 1
    assert verify(corpus) == []


@pytest.mark.parametrize("use", [compact])
def test_no_corpus_there(tmp_path: Path, use: Callable[[Path], object]) -> None:
    with pytest.raises(CorpusNotFoundError):
        use(tmp_path / "absent")

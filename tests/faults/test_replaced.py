"""Each file of a corpus goes, is cut, or is that of another corpus or of another time: that is noticed, or harmless."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.errors import AnabranchError
from anabranch.store.connections import connect_read_only
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_handles import open_folder
from anabranch.store.index.manifest import current_name, read_manifest
from anabranch.store.maintenance import verify
from tests.faults.conftest import NewFault
from tests.faults.days import check_answers, documents, made, name_of, said, take_in, tell

DAYS = 12


def roles(corpus: Path) -> dict[str, Path]:
    """All files of a corpus by what they are for, which is the same in every corpus."""
    name = str(current_name(corpus))
    homes = [home.name for home in sorted((corpus / "generations").iterdir())]
    segments = list(read_manifest(corpus, name).segments)
    segments += sorted({home.name for home in (corpus / "segments").iterdir()} - set(segments))
    names = {each: f"generation {len(homes) - place}" for place, each in enumerate(homes)}
    names |= {each: f"segment {place}" for place, each in enumerate(segments)}
    files = [path for path in sorted(corpus.rglob("*")) if path.is_file()]
    return {"/".join(names.get(part, part) for part in path.relative_to(corpus).parts): path for path in files}


def freeze(corpus: Path, copy: Path, change: Callable[[], None]) -> Path:
    """Change a corpus, and copy it as a killed writer would leave it: what changed is in the log alone."""
    with closing(connect_read_only(corpus / "corpus.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        change()
        shutil.copytree(corpus, copy)
    (copy / "writer").write_text("process 1 on a machine")
    (copy / "write.lock").touch()
    assert (copy / "corpus.db-wal").stat().st_size > 0
    # A reader cannot empty the log.
    CorpusDatabase(corpus).close()
    assert not (corpus / "corpus.db-wal").exists()
    return copy


class World:
    """A corpus of a folder: closed, and as a killed writer leaves it; an older state, and another corpus, of both."""

    def __init__(self, ground: Path, model: Path) -> None:
        self.folder, live = made(ground, model, DAYS)
        self.model = model
        self.corpora: dict[str, Path] = {}
        self.older: dict[str, Path] = {}
        self.older["killed"] = freeze(live, ground / "older-killed", lambda: self._change(live, 5, removed=8))
        self.older["closed"] = shutil.copytree(live, ground / "older-closed")
        self.corpora["killed"] = freeze(live, ground / "killed", lambda: self._change(live, 6))
        self.corpora["closed"] = shutil.copytree(live, ground / "closed")
        # As many documents and runs, so that whatever counts them is equal.
        folder, other = made(ground / "other", model, DAYS)
        for day in range(DAYS):
            tell(folder, day, 100 + day)
        self.other = {
            "killed": freeze(other, ground / "other-killed", lambda: take_in(folder, other, model)),
            "closed": shutil.copytree(other, ground / "other-closed"),
        }

    def _change(self, corpus: Path, day: int, removed: int | None = None) -> None:
        tell(self.folder, day, 50 + day)
        tell(self.folder, day + 1, 50 + day)
        if removed is not None:
            os.unlink(self.folder / name_of(removed))
        take_in(self.folder, corpus, self.model)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, model: Path) -> World:
    return World(tmp_path_factory.mktemp("replaced"), model)


def delete(world: World, state: str, role: str, file: Path) -> bool:
    file.unlink()
    return True


def cut(world: World, state: str, role: str, file: Path) -> bool:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    return bool(content)


def empty(world: World, state: str, role: str, file: Path) -> bool:
    is_changed = file.stat().st_size > 0
    file.write_bytes(b"")
    return is_changed


def _put(before: dict[str, Path], role: str, file: Path) -> bool:
    content = before[role].read_bytes() if role in before else b""
    is_changed = role in before and content != file.read_bytes()
    if is_changed:
        file.write_bytes(content)
    return is_changed


def put_other(world: World, state: str, role: str, file: Path) -> bool:
    return _put(roles(world.other[state]), role, file)


def put_older(world: World, state: str, role: str, file: Path) -> bool:
    return _put(roles(world.older[state]), role, file)


def put_database(world: World, state: str, role: str, file: Path, *, source: str) -> bool:
    """Restore a whole database, as people do: without the log that lies there."""
    if role != "corpus.db":
        return False
    for path in file.parent.glob("corpus.db*"):
        path.unlink()
    if source:
        shutil.copy(getattr(world, source)["closed"] / "corpus.db", file)
    return True


def forget_database(world: World, state: str, role: str, file: Path) -> bool:
    return put_database(world, state, role, file, source="")


def put_older_database(world: World, state: str, role: str, file: Path) -> bool:
    return put_database(world, state, role, file, source="older")


def put_other_database(world: World, state: str, role: str, file: Path) -> bool:
    return put_database(world, state, role, file, source="other")


WAYS = [
    delete, cut, empty, put_other, put_older, forget_database, put_older_database, put_other_database,
]  # fmt: skip


@pytest.mark.parametrize("is_written_to", [False, True], ids=["read", "written to"])
@pytest.mark.parametrize("state", ["closed", "killed"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_replaced_file(
    world: World, way: Callable[..., bool], state: str, is_written_to: bool, ground: Path, fault: NewFault
) -> None:
    row = fault(
        f"{way.__name__.replace('_', ' ')}: each file of a corpus that was {state}, "
        f"and then it is {'written to' if is_written_to else 'read'}",
        "an error says so, or verify does, or both arms find every document of the database, and nothing else; where "
        "the database lost a document, verify says so as long as nothing was written",
    )
    for number, (role, path) in enumerate(roles(world.corpora[state]).items()):
        corpus = shutil.copytree(world.corpora[state], ground / f"c{number}")
        if way(world, state, role, corpus / path.relative_to(world.corpora[state])):
            with row.attempt(role):
                (check_written if is_written_to else check_read)(world, corpus)
        shutil.rmtree(corpus)
    row.settle()


def content_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def check_read(world: World, corpus: Path) -> None:
    try:
        problems = verify(corpus)
        check_answers(corpus, open_folder(corpus))
    except AnabranchError:
        return
    except (AssertionError, sqlite3.DatabaseError):
        assert problems
        return
    # The answers are those of the database: has it lost what was acknowledged?
    assert problems or documents(corpus) == content_of(world.folder)


def check_written(world: World, corpus: Path) -> None:
    before = content_of(world.folder)
    try:
        # As many changes as the last run made, to the same files: a restored database counts them as it did those.
        tell(world.folder, 6, 99)
        tell(world.folder, 7, 99)
        take_in(world.folder, corpus, world.model)
        check_answers(corpus, open_folder(corpus))
        # By their texts: beside another corpus's document of that name, a document gets another one.
        assert set(documents(corpus).values()) >= {said(6, 99), *content_of(world.folder).values()}
        assert verify(corpus) == []
    except AnabranchError:
        pass
    except AssertionError:
        assert verify(corpus), "unnoticed"
    finally:
        for name, text in before.items():
            (world.folder / name).write_text(text, encoding="utf-8")

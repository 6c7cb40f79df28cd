"""A corpus on a disk that cannot be written to is read as it is; one that was moved is found where it is now."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import AnabranchError, CorpusNotFoundError
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_handles import open_folder
from tests.faults.children import Child, Say, answer
from tests.faults.conftest import Disk, NewFault
from tests.faults.damaging import damaged
from tests.faults.days import (
    check_answers,
    documents,
    found,
    leaves,
    made,
    name_of,
    problems,
    said,
    take_in,
    tell,
    texts_of,
)
from tests.store.index.filling import grown, write

DAYS = 12
LEFT = 50


def dying(say: Say, corpus: Path) -> None:
    """Commit a document and die before it is indexed, and before the log is moved into the database."""
    database = CorpusDatabase(corpus)
    write(database, [grown(name_of(LEFT), said(LEFT, 1).split(". "))])
    say("committed")
    os.kill(os.getpid(), 9)


def looked(corpus: Path, folder: Path, model: Path, ids: set[str]) -> dict[str, Any]:
    """What a process finds that may not write there."""
    seen: dict[str, Any] = {"reading": "", "writing": ""}
    try:
        store = open_folder(corpus)
        seen["ids"] = set(found(store)["dense"])
        seen["texts"] = set(texts_of(store, sorted(ids)))
    except AnabranchError as error:
        seen["reading"] = f"{type(error).__name__}: {error}"
    try:
        take_in(folder, corpus, model)
    except AnabranchError as error:
        seen["writing"] = f"{type(error).__name__}: {error}"
    return seen


STATES = ("closed", "killed", "killed, index of the log gone", "damaged")


def prepared(state: str, template: Path, corpus: Path, dice: Any) -> None:
    shutil.rmtree(corpus, ignore_errors=True)
    shutil.copytree(template, corpus)
    if state.startswith("killed"):
        assert list(Child(dying, corpus).rest()) == ["committed"]
        assert (corpus / "corpus.db-wal").stat().st_size
    if state.endswith("gone"):
        (corpus / "corpus.db-shm").unlink()
    if state == "damaged":
        (segment,) = dice.sample(sorted((corpus / "segments").iterdir()), 1)
        damaged(segment / "rows.npy", dice)


def check_seen(state: str, seen: dict[str, Any], before: set[str], committed: set[str]) -> None:
    assert seen["writing"].startswith("SettingsError"), seen["writing"]
    if state == "damaged":
        assert "corpus rebuild" in seen["reading"]
    elif state.endswith("gone"):
        assert "log" in seen["reading"]
        assert "OperationError" in seen["reading"]
    else:
        assert seen["reading"] == ""
        assert seen["ids"] == before
        assert seen["texts"] == committed


def test_read_only(disk: Disk, ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault(
        "the disk is read-only: the corpus was closed, or its writer was killed, or a derived file is damaged",
        "it opens and finds what was indexed, and the text of all that was committed; where it cannot, an error says "
        "why; writing is refused with the reason; where it can be written to again, all that was committed is found",
    )
    folder, template = made(ground, model, DAYS)
    corpus, reference = disk.path / "c", set(leaves(template))
    for number, dice in enumerate(row.dice(few)):
        state = STATES[number % len(STATES)]
        with row.attempt(state):
            prepared(state, template, corpus, dice)
            committed = set(leaves(shutil.copytree(corpus, ground / f"c{number}")))
            with disk.read_only() as view:
                seen = answer(looked, view / corpus.name, folder, model, committed)
            check_seen(state, seen, reference, committed)
            check_answers(corpus, open_folder(corpus))
            assert problems(corpus) == []
            assert state.startswith("killed") == (name_of(LEFT) in documents(corpus))
    row.settle()


def become_nobody(corpus: Path, folder: Path, model: Path) -> None:
    """Give up the rights of root, whose Python may be out of reach then: all imports have to be done before."""
    practice = corpus.with_name("practice")
    take_in(folder, practice, model)
    texts_of(open_folder(practice), list(found(open_folder(practice))["dense"]))
    os.setgid(65534)
    os.setuid(65534)


def asking_twice(say: Say, corpus: Path, folder: Path, model: Path, ids: set[str], again: Path) -> None:
    """Look, and look again when the owner has gone on; a handle of before is kept."""
    become_nobody(corpus, folder, model)
    first = looked(corpus, folder, model, ids)
    store = None if first["reading"] else open_folder(corpus)
    say(first)
    while not again.exists():
        time.sleep(0.005)
    if store is not None:
        there = texts_of(store, list(found(store)["dense"]))
        assert set(there) <= first["texts"]
    say(looked(corpus, folder, model, set(json.loads(again.read_text()))))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_somebody_else(ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault(
        "a user searches who may read the corpus and not write to it, while its owner goes on",
        "as above; what the owner adds is found by the next question",
    )
    own = shutil.copytree(model, ground / "model")
    folder, template = made(ground, own, DAYS)
    for number, dice in enumerate(row.dice(few)):
        state = STATES[number % len(STATES)]
        corpus, again = ground / "shown", ground / f"again{number}"
        with row.attempt(state):
            prepared(state, template, corpus, dice)
            committed = set(leaves(shutil.copytree(corpus, ground / f"c{number}")))
            show(ground)
            child = Child(asking_twice, corpus, folder, own, committed, again)
            check_seen(state, child.hear(), set(leaves(template)), committed)
            tell(folder, 0, 100 + number)
            take_in(folder, corpus, own)
            show(ground)
            there = set(leaves(corpus))
            again.with_suffix(".new").write_text(json.dumps(sorted(there)))
            again.with_suffix(".new").rename(again)
            seen = child.hear()
            assert seen["ids"] == seen["texts"] == there
    row.settle()


def show(ground: Path) -> None:
    for path in [ground, *ground.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_moved(ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault(
        "the corpus is moved, between two runs and while it is open, and another one comes in its place",
        "it opens and can be written to where it is now; at the old path there is none, or the other one; the open "
        "handle goes on finding what it found, or says that the corpus is not there",
    )
    folder, template = made(ground, model, DAYS)
    other = ground / "e" / "d"
    other.mkdir(parents=True)
    tell(other, 70, 1)
    for number in range(few):
        old, new = ground / f"old{number}", ground / f"new{number}" / "deeper"
        new.parent.mkdir()
        shutil.copytree(template, old)
        with row.attempt(number):
            store = open_folder(old)
            before = set(found(store)["dense"])
            old.rename(new)
            with pytest.raises(CorpusNotFoundError):
                open_folder(old)
            check_handle(store, before)
            check_answers(new, open_folder(new))
            tell(folder, 1, 100 + number)
            take_in(folder, new, model)
            check_answers(new, open_folder(new))
            check_handle(store, before)
            take_in(other, old, model)
            check_answers(old, open_folder(old))
            assert set(documents(old)) == {name_of(70)}
            check_handle(store, before)
            assert problems(new) == problems(old) == []
    row.settle()


def check_handle(store: Any, before: set[str]) -> None:
    try:
        assert set(found(store)["dense"]) == before
        asyncio.run(store.info())
    except CorpusNotFoundError as error:
        assert "no longer exists" in error.message

"""A clock that goes backwards hides no change: times are hints, the content decides."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.store.corpus_handles import open_folder
from tests.faults.conftest import NewFault
from tests.faults.days import check_answers, editions, made, name_of, problems, said, take_in

DAYS = 12
YEARS = 10 * 365 * 86_400


def test_clock(ground: Path, model: Path, few: int, fault: NewFault, monkeypatch: pytest.MonkeyPatch) -> None:
    row = fault(
        "the clock goes backwards: files of the folder and of the corpus get times years off, a changed file gets the "
        "size and the time that it had, or an earlier one, and the clock itself jumps back at each look",
        "every change is taken in; generations go up; both arms find exactly what the database holds; verify is clean",
    )
    folder, corpus = made(ground, model, DAYS)
    dice = random.Random(1)
    now = iter_back(dice)
    monkeypatch.setattr(time, "time", lambda: next(now))
    monkeypatch.setattr(time, "time_ns", lambda: int(next(now) * 1e9))
    for dice in row.dice(few):
        with row.attempt():
            for path in (path for path in corpus.rglob("*") if path.is_file()):
                offset = dice.randint(-YEARS, YEARS)
                os.utime(path, (path.stat().st_mtime + offset,) * 2)
            before, expected = open_folder(corpus).generation, editions(corpus)
            for day in dice.sample(range(DAYS), 3):
                expected[name_of(day)] = changed(folder / name_of(day), day, dice)
            take_in(folder, corpus, model)
            assert editions(corpus) == expected
            store = open_folder(corpus)
            assert store.generation > before
            check_answers(corpus, store)
            assert problems(corpus) == []
    row.settle()


def iter_back(dice: random.Random) -> Iterator[float]:
    moment = 1.8e9
    while True:
        moment -= dice.uniform(0, 3_600)
        yield moment


def changed(file: Path, day: int, dice: random.Random) -> int:
    """Write another edition of the same size in the same place, and set the time to what it was, or before."""
    before = file.stat()
    former = int(file.read_text("utf-8").split("edition ")[1].split()[0])
    edition = next(each for each in iter(lambda: dice.randint(10, 99), None) if each != former)
    file.write_text(said(day, edition), encoding="utf-8")
    earlier = dice.choice([0, 0, dice.randint(0, YEARS)])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns - earlier * 10**9))
    return edition

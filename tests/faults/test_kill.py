"""A process that is killed at any instant loses no committed document and leaves a corpus that opens."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import CorpusEmptyError, CorpusNotFoundError
from anabranch.store.corpus_handles import open_folder
from anabranch.store.maintenance import rebuild
from tests.faults.children import Child, Say
from tests.faults.conftest import NewFault
from tests.faults.days import check_answers, editions, leftovers, name_of, problems, take_in, tell
from tests.faults.ledger import Ledger, told

DAYS = 12
LOOKED_AT = (
    "every document that was committed is there, whole, in that edition or a later one; the corpus opens; both arms "
    "find exactly what the database holds; verify is clean; the next run leaves nothing over"
)


def change(folder: Path, dice: random.Random, edition: int) -> None:
    """Write some days anew, and now and then remove one."""
    for day in dice.sample(range(DAYS), dice.randint(1, 4)):
        tell(folder, day, edition)
    if dice.random() < 0.3:
        (folder / name_of(dice.randrange(DAYS))).unlink(missing_ok=True)


def ingesting(say: Say, folder: Path, corpus: Path, model: Path, seed: int, first: int) -> None:
    with told(say):
        dice = random.Random(seed)
        for edition in count(first):
            change(folder, dice, edition)
            say(("begins", None))
            take_in(folder, corpus, model)


def rebuilding(say: Say, folder: Path, corpus: Path, model: Path, seed: int, first: int) -> None:
    with told(say):
        dice = random.Random(seed)
        for edition in count(first):
            change(folder, dice, edition)
            take_in(folder, corpus, model)
            say(("begins", None))
            rebuild(corpus)


def swapping(say: Say, folder: Path, corpus: Path, model: Path, seed: int, first: int) -> None:
    """Die by one's own hand at a random file operation."""
    dice = random.Random(seed)
    left = dice.randrange(500)
    inside = str(corpus)

    def step(event: str, given: tuple[Any, ...]) -> None:
        nonlocal left
        if event in {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir", "mmap.__new__"}:
            left -= event == "mmap.__new__" or inside in str(given[0])
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    with told(say):
        change(folder, dice, first)
        take_in(folder, corpus, model)
        say(("begins", None))
        sys.addaudithook(step)
        for edition in count(first + 1):
            change(folder, dice, edition)
            take_in(folder, corpus, model)
            rebuild(corpus)


KILLS: dict[str, tuple[str, Callable[..., None], float | None]] = {
    "ingest": ("SIGKILL at a random instant of an ingest", ingesting, 0.4),
    "rebuild": ("SIGKILL at a random instant of a rebuild", rebuilding, 0.2),
    "swap": ("SIGKILL at a random file operation of ingest, generation swap, sweep or rebuild", swapping, None),
}


@pytest.mark.parametrize("kind", KILLS)
def test_killed(kind: str, ground: Path, model: Path, tries: int, fault: NewFault) -> None:
    name, work, longest = KILLS[kind]
    row = fault(name, LOOKED_AT)
    folder = corpus = ground
    for number, dice in enumerate(row.dice(tries)):
        if number % 10 == 0:  # a young corpus, too
            folder, corpus, ledger = ground / f"d{number}" / "d", ground / f"c{number}", Ledger()
            folder.mkdir(parents=True)
        with row.attempt(corpus):
            child = Child(work, folder, corpus, model, dice.random(), 1_000 * number)
            for said in iter(child.hear, ("begins", None)):
                ledger.hear(said)
            if longest is not None:
                child.kill(dice.uniform(0.0, longest))
            for said in child.rest():
                ledger.hear(said)
            assert child.exit_code == -signal.SIGKILL
            after_kill(folder, corpus, model, ledger, 1_000 * number + 999)
    row.settle()


def after_kill(folder: Path, corpus: Path, model: Path, ledger: Ledger, edition: int) -> None:
    found = editions(corpus)
    ledger.check(found)
    try:
        check_answers(corpus, open_folder(corpus))
        assert problems(corpus) == []
    except (CorpusEmptyError, CorpusNotFoundError):
        assert not found
    tell(folder, 0, edition)
    take_in(folder, corpus, model)
    assert leftovers(corpus) == []
    assert problems(corpus) == []
    there = editions(corpus)
    assert there[name_of(0)] == edition
    ledger.hear(("committed", {source: there.get(source) for source in {*found, *there}}))

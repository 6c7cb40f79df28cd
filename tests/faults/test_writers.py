"""Of several writers one writes, and the others wait or are told who it is."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

from anabranch.errors import CorpusLockedError
from anabranch.store.corpus_handles import open_folder
from tests.faults.children import Child, Say
from tests.faults.conftest import NewFault
from tests.faults.days import check_answers, editions, name_of, problems, take_in, tell

WRITERS = 3
EACH = 4


def contending(say: Say, folder: Path, corpus: Path, model: Path, seed: float) -> None:
    """Take in a folder, again until it works."""
    dice = random.Random(seed)
    while True:
        try:
            take_in(folder, corpus, model)
        except CorpusLockedError as error:
            say(error.message)
            time.sleep(dice.uniform(0.0, 0.05))
        else:
            return


def test_several_writers(ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault(
        f"{WRITERS} processes ingest into one corpus at the same time, now and then one of them is killed",
        "whoever does not write is told who does; all documents are there, whole; both arms find exactly what the "
        "database holds; verify is clean",
    )
    refused = 0
    for number, dice in enumerate(row.dice(few)):
        corpus = ground / f"c{number // 10}"
        folders = [ground / f"d{number // 10}" / f"w{writer}" for writer in range(WRITERS)]
        with row.attempt(corpus):
            for writer, folder in enumerate(folders):
                folder.mkdir(parents=True, exist_ok=True)
                for day in range(writer * EACH, (writer + 1) * EACH):
                    tell(folder, day, number)
            refused += contended(folders, corpus, model, dice)
            expected = {name_of(day): number for day in range(WRITERS * EACH)}
            assert editions(corpus) == expected
            check_answers(corpus, open_folder(corpus))
            assert problems(corpus) == []
    row.remark = f"a writer was refused {refused} times"
    row.settle()


def contended(folders: list[Path], corpus: Path, model: Path, dice: random.Random) -> int:
    children = [Child(contending, folder, corpus, model, dice.random()) for folder in folders]
    pids = {child.pid for child in children}
    doomed = children[0] if dice.random() < 0.3 else None
    if doomed is not None:
        doomed.kill(dice.uniform(0.0, 0.3))
    refused = 0
    for child in children:
        for said in child.rest():
            refused += 1
            (named,) = re.findall(r"by (?:process (\d+)|another process)", said)
            assert not named or int(named) in pids, said
        assert child is doomed or child.exit_code == 0
    if doomed is not None:
        take_in(folders[0], corpus, model)
    return refused

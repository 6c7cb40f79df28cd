"""A disk that is full at any write loses nothing that was committed; it is said, and over once there is room."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import AnabranchError, OperationError
from anabranch.store.corpus_handles import open_folder
from anabranch.store.index.dense import open_shards, write_shards
from anabranch.store.index.mmap_file import save
from anabranch.store.maintenance import rebuild
from tests.faults.children import Child, Say, answer
from tests.faults.conftest import Disk, NewFault
from tests.faults.days import check_answers, editions, found, leaves, leftovers, made, problems, take_in, tell, texts_of
from tests.faults.ledger import Ledger, told

DAYS = 30
PAGE = 4_096
ROOM = 512 << 10
"""Bytes that a run is never short of: it needs about three quarters of them."""

LOOKED_AT = (
    "the run ends with an error that names the disk, not with a crash; every document that was committed is there, "
    "whole; the corpus opens and answers while there is no room; once there is, the same run completes, both arms find "
    "exactly what the database holds, verify is clean and nothing is left over"
)


def limited(limit: int | None) -> None:
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def run(say: Say, kind: str, folder: Path, corpus: Path, model: Path, limit: int | None) -> None:
    """Do one run and say how it ended."""
    limited(limit)
    with told(say):
        try:
            RUNS[kind](folder, corpus, model)
        except Exception as error:
            say(("ended", (type(error).__name__, str(error), isinstance(error, OperationError))))
        else:
            say(("ended", None))


RUNS: dict[str, Callable[[Path, Path, Path], object]] = {
    "ingest": take_in,
    "rebuild": lambda folder, corpus, model: rebuild(corpus),
}


def looked(corpus: Path, limit: int | None) -> tuple[set[str], set[str]] | str:
    """What is found now, and of what there is text."""
    limited(limit)
    try:
        store = open_folder(corpus)
        ids = set(found(store)["dense"])
        assert ids >= set(found(store)["bm25"])
        return ids, set(texts_of(store, sorted(ids)))
    except AnabranchError as error:
        return str(error)


def test_disk_full(disk: Disk, ground: Path, model: Path, tries: int, fault: NewFault) -> None:
    row = fault("disk full: a file system with less and less room, during ingest and rebuild", LOOKED_AT)
    folder, template = made(ground, model, DAYS)
    corpus = disk.path / "c"
    failed = 0
    for number, dice in enumerate(row.dice(tries)):
        free = ROOM * number // tries // PAGE * PAGE
        kind = dice.choice(["ingest", "rebuild"])
        disk.clear()
        shutil.rmtree(corpus, ignore_errors=True)
        shutil.copytree(template, corpus)
        with row.attempt(f"{kind} with {free} bytes"):
            for day in dice.sample(range(DAYS), 5):
                tell(folder, day, 100 + number)
            disk.fill(free)
            failed += without_room(kind, folder, corpus, model, template, None, ground / "copy")
            disk.clear()
            with_room(kind, folder, corpus, model)
    row.remark = f"{failed:,} of the runs failed for it"
    row.settle()


def test_quota(ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault("no file may grow past a limit, lower and lower, during ingest and rebuild", LOOKED_AT)
    folder, template = made(ground, model, DAYS)
    corpus = ground / "limited"
    failed = 0
    for number, dice in enumerate(row.dice(few)):
        limit = (200 << 10) * (number + 1) // few
        kind = dice.choice(["ingest", "rebuild"])
        shutil.rmtree(corpus, ignore_errors=True)
        shutil.copytree(template, corpus)
        with row.attempt(f"{kind} with files of {limit} bytes"):
            for day in dice.sample(range(DAYS), 5):
                tell(folder, day, 100 + number)
            failed += without_room(kind, folder, corpus, model, template, limit, ground / "copy")
            with_room(kind, folder, corpus, model)
    row.remark = f"{failed:,} of the runs failed for it"
    row.settle()


def test_last_bytes(disk: Disk, tries: int, fault: NewFault) -> None:
    row = fault(
        "the last kilobytes of an array or of vectors find no room",
        "that is an error when the file is written; a file without one is whole",
    )
    for dice in row.dice(tries):
        disk.fill(dice.randrange(1, 5) * PAGE)
        size = dice.randrange(6 * PAGE)
        for write in (array, vectors):
            with row.attempt(f"{write.__name__} of {size} bytes"):
                assert answer(write, disk.path / "file", size)
    row.settle()


def array(file: Path, size: int) -> bool:
    return tells(file, lambda: save(file, np.ones(size, np.uint8)), lambda: bool(np.load(file).all()))


def vectors(file: Path, size: int) -> bool:
    rows = size // 32
    batch = np.ones((rows, 8), np.float32)
    home = file.with_name("segment")
    home.mkdir(exist_ok=True)
    return tells(home / "dense.0.faiss", lambda: write_shards(home, [batch], 8), lambda: rows_in(home) == rows)


def rows_in(home: Path) -> int:
    return sum(shard.rows for shard in open_shards(home))


def tells(file: Path, write: Callable[[], object], is_whole: Callable[[], bool]) -> bool:
    try:
        write()
        return is_whole()
    except OSError:
        return True
    finally:
        file.unlink(missing_ok=True)


def without_room(
    kind: str, folder: Path, corpus: Path, model: Path, template: Path, limit: int | None, copy: Path
) -> bool:
    """Do a run and look at what it leaves; tell whether it failed."""
    ledger = Ledger(editions(template))
    child = Child(run, kind, folder, corpus, model, limit)
    ended: Any = "died"
    for said in child.rest():
        if said[0] == "ended":
            ended = said[1]
        ledger.hear(said)
    assert ended != "died", f"exit code {child.exit_code}"
    assert ended is None or ended[2], f"not an OperationError: {ended}"
    # Looked at elsewhere: SQLite itself wants room to read a log.
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in corpus.glob("corpus.db*"):
        shutil.copy(file, copy)
    ledger.check(editions(copy))
    before, now = set(leaves(template)), set(leaves(copy))
    seen = answer(looked, corpus, limit)
    assert not isinstance(seen, str), seen
    ids, texts = seen
    assert ids == now or before & now <= ids <= before, "neither of the former index nor of the present one"
    assert texts == ids & now
    return ended is not None


def with_room(kind: str, folder: Path, corpus: Path, model: Path) -> None:
    (*_, (_, ended)) = Child(run, kind, folder, corpus, model, None).rest()
    assert ended is None, ended
    tell(folder, 0, 99)
    take_in(folder, corpus, model)
    check_answers(corpus, open_folder(corpus))
    assert problems(corpus) == []
    assert leftovers(corpus) == []

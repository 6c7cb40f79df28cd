"""A derived file that is not what was written is found out, made anew from the database, and that is said."""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from anabranch.errors import CorpusDamagedError
from anabranch.store.corpus_handles import open_folder
from anabranch.store.index import checksum_watch as integrity
from anabranch.store.index import dense, segment
from anabranch.store.index.manifest import current_name, read_manifest
from anabranch.store.index.segment import Segment
from anabranch.store.local_reader import LocalReader
from tests.faults.children import answer
from tests.faults.conftest import NewFault
from tests.faults.damaging import damaged
from tests.faults.days import check_answers, found, leftovers, made, problems, take_in, tell

DAYS = 30
MORE = 3
"""Tries for each that is asked for: they are cheap."""

Found = dict[str, dict[str, float]]


def derived(corpus: Path) -> list[Path]:
    """All files that the current generation stands on."""
    name = str(current_name(corpus))
    homes = [corpus / "generations" / name]
    homes += [corpus / "segments" / each for each in read_manifest(corpus, name).segments]
    return [corpus / "CURRENT", *(path for home in homes for path in sorted(home.rglob("*")) if path.is_file())]


def with_codes(ground: Path, model: Path) -> tuple[Path, Path]:
    folder, corpus = made(ground, model, DAYS)
    files = derived(corpus)
    assert any(path.parent.name == "dead" for path in files)
    assert any(path.name.startswith("codes.") for path in files)
    return folder, corpus


def same(one: Found, other: Found) -> None:
    for arm, scores in one.items():
        assert scores == pytest.approx(other[arm], abs=1e-6)


@pytest.fixture(autouse=True)
def codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "QUANTISED", 40)


def test_damaged_file(ground: Path, model: Path, tries: int, fault: NewFault, caplog: pytest.LogCaptureFixture) -> None:
    row = fault(
        "a derived file is flipped, cut, zeroed, lengthened or gone at a random place, then opened or written to",
        "verify names it; opening, or the next ingest, makes the index anew and says so in the log; both arms find "
        "what they found before, with the same scores",
    )
    folder, template = with_codes(ground, model)
    before = found(open_folder(template))
    changed = shutil.copytree(template, ground / "changed")
    tell(folder, 3, 77)
    take_in(folder, changed, model)
    after = found(open_folder(changed))
    for number, dice in enumerate(row.dice(tries * MORE)):
        corpus = shutil.copytree(template, ground / f"c{number}")
        what = damaged(dice.choice(derived(corpus)), dice)
        is_written_to = dice.random() < 0.3
        with row.attempt(f"{what}, written to: {is_written_to}"):
            assert problems(corpus)
            caplog.clear()
            if is_written_to:
                take_in(folder, corpus, model)
            store = open_folder(corpus)
            same(found(store), after if is_written_to else before)
            assert "Rebuilding" in caplog.text
            assert problems(corpus) == []
            assert leftovers(corpus) == []
        shutil.rmtree(corpus)
    row.settle()


def watched(corpus: Path) -> tuple[str, Found]:
    """Search a large index while it is being checked; return what was found out, and what is found afterwards."""
    damage, searched = Segment.damage, threading.Event()

    def slow(each: Segment) -> list[str]:
        searched.wait(0.3)
        return damage(each)

    with (
        patch.object(integrity, "AT_ONCE", 0),
        patch.object(segment, "HEAD", HEAD),
        patch.object(dense, "QUANTISED", 40),
        patch.object(Segment, "damage", slow),
    ):
        said = searched_until_it_is_found(open_folder(corpus), searched)
        return said, found(open_folder(corpus))


def searched_until_it_is_found(store: LocalReader, searched: threading.Event) -> str:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            for day in range(DAYS):
                found(store, f"gauge of day {day}")
        except CorpusDamagedError as error:
            return error.message
        searched.set()
    return "nothing was found"


HEAD = 1_024


def test_damaged_while_it_is_searched(
    ground: Path, model: Path, few: int, fault: NewFault, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = fault(
        "a bit past the first bytes of a large segment's file is flipped; it is checked while it is being searched",
        "no search crashes or raises anything but that error; it is found out, the index is made anew, and both arms "
        "find what they found before",
    )
    monkeypatch.setattr(segment, "HEAD", HEAD)
    _, template = with_codes(ground, model)
    before = found(open_folder(template))
    large = [path.relative_to(template) for path in derived(template) if path.stat().st_size > HEAD]
    large = [path for path in large if path.suffix != ".json" and path.parts[0] == "segments"]
    for number, dice in enumerate(row.dice(few)):
        corpus = shutil.copytree(template, ground / f"c{number}")
        file = corpus / dice.choice(large)
        content = bytearray(file.read_bytes())
        place = dice.randrange(HEAD, len(content))
        content[place] ^= 1 << dice.randrange(8)
        file.write_bytes(bytes(content))
        with row.attempt(f"{file.name} at {place}"):
            said, afterwards = answer(watched, corpus)
            assert file.name in said
            same(afterwards, before)
        shutil.rmtree(corpus)
    row.settle()


def test_former_pointer(ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault(
        "the index is an earlier one than the database, as in a copy of a folder that was being written to, and the "
        "next ingest adds to it",
        "both arms find exactly what the database holds; verify is clean",
    )
    folder, template = with_codes(ground, model)
    dice = random.Random(1)
    for number in range(few):
        corpus = shutil.copytree(template, ground / f"c{number}")
        with row.attempt(number):
            for day in dice.sample(range(DAYS), 2):
                tell(folder, day, 100 + number)
            os.unlink(folder / f"day{dice.randrange(DAYS):02}.txt")
            take_in(folder, corpus, model)
            for part in ("generations", "segments"):
                shutil.copytree(template / part, corpus / part, dirs_exist_ok=True)
            shutil.copy(template / "CURRENT", corpus)
            if number % 2:
                take_in(folder, corpus, model)
            check_answers(corpus, open_folder(corpus))
            assert problems(corpus) == []
        for day in range(DAYS):
            tell(folder, day, 200 + number)
        shutil.rmtree(corpus)
    row.settle()

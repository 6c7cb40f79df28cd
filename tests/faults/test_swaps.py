"""A reader goes through generation after generation: every answer is of one of them, and nothing piles up."""

from __future__ import annotations

import os
import random
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from anabranch.models.embedders import load_embedder
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_handles import open_folder
from anabranch.store.index.manifest import KEPT
from anabranch.store.index.publisher import publish as make_index
from anabranch.store.index.publisher import tidy
from anabranch.store.write_lock import hold_write_lock
from tests.faults.children import Child, Say
from tests.faults.conftest import NewFault
from tests.faults.days import check_answers, found, name_of, problems
from tests.store.index.filling import alive, grown, write

DAYS = 40
EACH = 5
"""Generations for each try that is asked for: 1,000 of them for 200."""

MOST_SEGMENTS = 24


class Answer(NamedTuple):
    """What both arms brought; between the two a document may have been removed."""

    generation: str
    arms: tuple[frozenset[str], ...]
    files: int
    maps: int


def reading(say: Say, corpus: Path, stop: Path) -> None:
    """Ask again and again; a handle of the first generation is kept all the time."""
    first = open_folder(corpus)
    expected = set(found(first)["dense"])
    while not stop.exists():
        store = open_folder(corpus)
        answer = found(store)
        arms = tuple(frozenset(ids) for ids in answer.values())
        say(Answer(store.manifest.name, arms, len(os.listdir("/proc/self/fd")), mapped(corpus)))
        assert set(found(first)["dense"]) <= expected


def mapped(corpus: Path) -> int:
    return Path("/proc/self/maps").read_text().count(str(corpus))


def test_reader(ground: Path, model: Path, tries: int, fault: NewFault) -> None:
    row = fault(
        "a process searches all the time while generations are swapped",
        "no search fails; each finds exactly the documents of one generation, less those removed since; open files and "
        "mapped files do not grow; no more than the kept generations and few segments are on disk",
    )
    corpus, stop = ground / "c", ground / "stop"
    corpus.mkdir()
    history: dict[str, set[str]] = {}
    ever: dict[int, set[str]] = {day: set() for day in range(DAYS)}
    removed: set[str] = set()
    answers: list[Answer] = []
    with hold_write_lock(corpus), closing(CorpusDatabase(corpus)) as database:
        settle(database, model)
        for day in range(DAYS):
            put(database, day, 0)
        publish(database, history)
        reader = Child(reading, corpus, stop)
        answers.append(reader.hear())
        for number, dice in enumerate(row.dice(tries * EACH)):
            with row.attempt(number):
                for chunk_id, text in alive(database).items():
                    ever[int(text.split("day ")[1].split()[0])].add(chunk_id)
                if dice.random() < 0.2:
                    gone = dice.randrange(DAYS)
                    database.remove_file(f"/{name_of(gone)}")
                    # Editions that only former generations hold are hidden with the present one.
                    removed |= ever[gone]
                put(database, dice.randrange(DAYS), number)
                publish(database, history, is_anew=dice.random() < 0.02)
                answers += reader.heard()
                assert len(os.listdir(corpus / "generations")) <= KEPT
                assert len(os.listdir(corpus / "segments")) <= MOST_SEGMENTS
    stop.touch()
    answers += reader.rest()
    with row.attempt("reader"):
        assert reader.exit_code == 0
        check_history(answers, history, removed)
        check_growth(answers)
        check_answers(corpus, open_folder(corpus))
        assert problems(corpus) == []
    row.tries -= 1
    seen = len({answer.generation for answer in answers})
    row.remark = (
        f"{len(answers):,} answers of {seen:,} generations, at most {max(a.maps for a in answers)} mapped files"
    )
    row.settle()


def settle(database: CorpusDatabase, model: Path) -> None:
    with database.transaction():
        database.set_meta("embedder", load_embedder(str(model)).name)
        database.set_meta("spec", str(model))


def put(database: CorpusDatabase, day: int, edition: int) -> None:
    hours = range(random.Random(edition).randint(1, 3))
    write(
        database,
        [grown(name_of(day), [f"On day {day} in hour {hour} of {edition} the gauge stood." for hour in hours])],
    )


def publish(database: CorpusDatabase, history: dict[str, set[str]], *, is_anew: bool = False) -> None:
    manifest = make_index(database, anew=True) if is_anew else tidy(database)
    assert manifest is not None
    history[manifest.name] = set(alive(database))


def check_history(answers: list[Answer], history: dict[str, set[str]], removed: set[str]) -> None:
    for answer in answers:
        # `tidy` publishes before it merges: that generation holds the same as the one after it.
        there = history.get(answer.generation) or next(
            held for name, held in sorted(history.items()) if name > answer.generation
        )
        for ids in answer.arms:
            assert ids <= there, f"{answer.generation} has found what it does not hold"
            assert there - ids <= removed, f"{answer.generation} has not found all that it holds"


def check_growth(answers: list[Answer]) -> None:
    half = len(answers) // 2
    for before, after in (
        (max(answer.files for answer in answers[:half]), max(answer.files for answer in answers[half:])),
        (max(answer.maps for answer in answers[:half]), max(answer.maps for answer in answers[half:])),
    ):
        assert after <= 2 * before + 20, f"{before} files at first, {after} later"

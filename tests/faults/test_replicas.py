"""A copy of a published corpus answers as the corpus does, whatever is published and whoever is killed meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anabranch.safety.operator import environment
from anabranch.store.corpus_handles import open_folder
from anabranch.store.local_reader import LocalReader
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus, open_writer
from anabranch_conformance.corpus_contents import ARMS, keep_facts, note, take_in
from anabranch_copies.replica.object_address import objects_at
from anabranch_copies.replica.pointer import decode_pointer
from anabranch_copies.replica.replica_publisher import publish_replica
from tests.faults.children import PATIENCE, Child, Say, answer
from tests.faults.conftest import NewFault
from tests.store.index.filling import WORDS

TAGS: list[tuple[str, ...]] = [(), (), ("board",), ("staff", "board")]
NOTES = 24
QUESTIONS = 40
AT_LEAST = 10
"""Questions for each swap that is asked for: 1,000 of them for 100."""


def change(origin: Path, dice: random.Random, notes: int = 3) -> None:
    """Write notes, new ones or in the place of others, with other tags; remove one now and then."""
    contents: dict[str, list[Any]] = {}
    for _ in range(notes):
        name = f"n{dice.randrange(NOTES):02}"
        text = ". ".join(" ".join(dice.choices(WORDS, k=7)) for _ in range(dice.randint(1, 4)))
        contents[f"/{name}"] = [note(name, f"Note {name}", text, dice.choice(TAGS), year=dice.randint(1, 3))]
    if notes < NOTES and dice.random() < 0.5:
        contents[f"/n{dice.randrange(NOTES):02}"] = []
    with open_writer(origin, wait=PATIENCE) as writer:
        if writer.is_empty():
            keep_facts(writer)
        take_in(writer, contents)
        writer.publish()


def asked(reader: LocalReader, number: int) -> str:
    """Return a digest of all that a reader has to say to one question."""
    dice = random.Random(number)
    query = " ".join(dice.choices(WORDS, k=3))
    scope = Scope(dice.choice(TAGS), dice.choice([None, None, {"year": dice.randint(1, 3)}]))

    async def ask() -> object:
        lists = [await reader.search(arm, [query], 8, scope) for arm in ARMS]
        ids = sorted({chunk_id for (ranked,) in lists for chunk_id in ranked["ids"]})
        chunks = await reader.chunks(ids, scope)
        doc_ids = sorted({chunk.doc_id for chunk in chunks.values()})
        parents = sorted({chunk.parent_id or "" for chunk in chunks.values()})
        return [
            lists,
            await reader.scores({arm: [query] for arm in ARMS}, ids, scope),
            [repr(chunk) for chunk in chunks.values()],
            await reader.children(parents, scope),
            await reader.places([(doc_id, 5) for doc_id in doc_ids], scope),
            sorted((await reader.originals(doc_ids, scope)).items()),
            await reader.outlines(scope, 100),
            await reader.leaves(doc_ids, scope, 3),
            sorted((await reader.idf([query], scope)).items()),
            (await reader.info()).leaves,
        ]

    return hashlib.sha256(json.dumps(asyncio.run(ask())).encode()).hexdigest()


def answers_of(reader: LocalReader) -> list[str]:
    return [asked(reader, number) for number in range(QUESTIONS)]


def process_with(cache: Path, poll: float) -> None:
    os.environ.update(ANABRANCH_REPLICAS=str(cache), ANABRANCH_REPLICA_POLL=str(poll))
    environment.cache_clear()


def asking(say: Say, target: str, cache: Path, stop: Path) -> None:
    """Ask again and again; what is published is looked at before each question."""
    process_with(cache, 0.0)
    number = 0
    while not stop.exists():
        reader = asyncio.run(open_corpus(target))
        assert isinstance(reader, LocalReader)
        say((reader.manifest.name, number % QUESTIONS, asked(reader, number % QUESTIONS)))
        number += 1


def copied(target: str, cache: Path) -> tuple[str, list[str]]:
    """Return which generation a new process reads, and what it says."""
    process_with(cache, 0.0)
    reader = asyncio.run(open_corpus(target))
    assert isinstance(reader, LocalReader)
    return reader.manifest.name, answers_of(reader)


def publishing(say: Say, origin: Path, target: str) -> None:
    say("ready")
    publish_replica(origin, target, wait=PATIENCE)


def written(origin: Path, dice: random.Random, history: dict[str, list[str]], notes: int = 3) -> str:
    """Change the corpus, and keep what it says."""
    change(origin, dice, notes)
    reader = open_folder(origin)
    history[reader.manifest.name] = answers_of(reader)
    return reader.manifest.name


def test_questions_while_generations_are_swapped(ground: Path, model: Path, tries: int, fault: NewFault) -> None:
    row = fault(
        "a process asks a copy all the time while generations are published",
        "each answer, with scores, texts, places and outlines, is that of the corpus at the same generation",
    )
    origin, target, stop = ground / "c", (ground / "published").as_uri(), ground / "stop"
    history: dict[str, list[str]] = {}
    heard: list[tuple[str, int, str]] = []
    written(origin, random.Random(0), history, NOTES)
    publish_replica(origin, target)
    reader = Child(asking, target, ground / "cache", stop)
    for number, dice in enumerate(row.dice(tries)):
        with row.attempt(number):
            name = written(origin, dice, history)
            publish_replica(origin, target)
            fresh = list(until(reader, name))
            heard += fresh
            assert len(fresh) >= AT_LEAST
    stop.touch()
    heard += reader.rest()
    with row.attempt("differences"):
        assert reader.exit_code == 0
        assert [each for each in heard if each[2] != history[each[0]][each[1]]] == []
        # The present one, the one before, which turns may have begun with, and one that the next look removes.
        assert len(list((ground / "cache").glob("*/generations/*"))) <= 3
    row.tries -= 1
    row.remark = f"{len(heard):,} questions, {len({name for name, *_ in heard}):,} generations"
    row.settle()


def until(reader: Child, name: str) -> Iterator[tuple[str, int, str]]:
    """Yield what a reader says until it has said something of a generation, and as much as is asked for."""
    end, number, there = time.monotonic() + PATIENCE, 0, False
    while not there or number < AT_LEAST:
        said = reader.hear()
        number, there = number + 1, there or said[0] == name
        yield said
        assert time.monotonic() < end, f"{name} has not come"


def test_killed_publishers_and_readers(ground: Path, model: Path, tries: int, fault: NewFault) -> None:
    row = fault(
        "a process that publishes, and one that brings a copy, are killed",
        "a copy is of the generation before or of the one after, and answers as the corpus did; the next run publishes",
    )
    origin, target = ground / "c", (ground / "published").as_uri()
    history: dict[str, list[str]] = {}
    before = written(origin, random.Random(0), history, NOTES)
    publish_replica(origin, target)
    torn = 0
    for number, dice in enumerate(row.dice(tries)):
        with row.attempt(number):
            after = written(origin, dice, history)
            publisher = Child(publishing, origin, target)
            publisher.hear()
            publisher.kill(dice.uniform(0.0, 0.12))
            list(publisher.rest())
            reader = Child(asking, target, ground / "cache", ground / "never")
            reader.kill(dice.uniform(0.0, 0.4))
            list(reader.rest())
            for cache in (ground / "cache", ground / f"cold{number}"):
                name, said = answer(copied, target, cache)
                assert name in {before, after}
                assert said == history[name]
            torn += name == before
            publish_replica(origin, target)
            before = after
            assert answer(copied, target, ground / "cache") == (after, history[after])
    row.remark = f"{torn} were killed before the pointer was swapped"
    row.settle()


def test_publishers_at_the_same_time(ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault(
        "three processes publish a folder at the same time, while it is written to",
        "the last generation is published; every generation in the pointer has its catalog",
    )
    origin, target = ground / "c", (ground / "published").as_uri()
    history: dict[str, list[str]] = {}
    for number, dice in enumerate(row.dice(few)):
        with row.attempt(number):
            written(origin, dice, history, NOTES if number == 0 else 3)
            publishers = [Child(publishing, origin, target) for _ in range(3)]
            name = written(origin, dice, history)
            for publisher in publishers:
                list(publisher.rest())
                assert publisher.exit_code == 0
            publish_replica(origin, target, wait=PATIENCE)
            found = objects_at(target).pointer()
            assert found
            pointer = decode_pointer(found[0], target)
            assert pointer.current.name == name
            assert len({release.name for release in pointer.releases}) == len(pointer.releases)
            for release in pointer.releases:
                assert (ground / "published" / release.catalog).is_file()
            assert answer(copied, target, ground / f"cold{number}") == (name, history[name])
    row.settle()

"""Made questions in two and three steps, and the documents that answer them among look-alikes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("two steps", "three steps", "a number between", "a false bridge")


def _words(text: str) -> list[str]:
    return text.split()


_FIRST = _words(
    "Mira Jonas Edda Tomas Ilse Ruben Nora Piet Anke Lars Hanna Otto Vera Karl Dana Emil Gesa Hugo Inga Jens Katja "
    "Leon Maja Nils Olga Paul Rita Sven Tilda Uwe"
)
_LAST = _words(
    "Solano Brandt Okafor Lindqvist Moreau Tanaka Vargas Keller Novak Petrov Dubois Rossi Haas Larsen Weber Costa "
    "Meyer Silva Fischer Jansen"
)
_PLACES = _words(
    "Harlow Kestrel Ashby Dunmore Wexley Corbin Tarn Elsworth Penrith Galway Morley Stroud Larch Fenwick Brixham "
    "Calder Denholm Elgin Farrow Glenside"
)
_BUILDINGS = _words("bridge lighthouse library station")
_STREETS = _words("Linden Birch Maple Alder Rowan Cedar Willow Poplar")
_HEADS = _words("Bran Cor Dal Fen Gar Hol Ket Lun Mar Nor Ost Pel Ran Sul Tor")
_TAILS = _words("bach dorf feld hagen moos ried stadt tal wald zell")
QUESTIONS = 40


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question of a world.

    Attributes:
        text: The question.
        thing: What it begins with.
        plan: The lines of a plan of it, as the prompt asks for them.
        gold: The passages that answer it, one a step.
        answer: The answer, in the words of the last passage.
        key: The words in `answer` that only the right one has.
    """

    text: str
    thing: str
    plan: str
    gold: tuple[str, ...]
    answer: str
    key: str


@dataclass(frozen=True, slots=True)
class World:
    """Documents, and the questions that they answer."""

    kind: str
    documents: tuple[str, ...]
    questions: tuple[MadeQuestion, ...]


def make_world(kind: str, look_alikes: int, seed: int = 7) -> World:
    """Make a world of one of `KINDS`, with 40 questions or one for each look-alike if there are fewer.

    Args:
        kind: One of `KINDS`.
        look_alikes: How many last passages there are; each differs from the others in the value that is looked for.
        seed: Of what is drawn.
    """
    drawn = random.Random(seed)  # noqa: S311  # no secret
    names = [f"{first} {last}" for first in _FIRST for last in _LAST]
    things = [f"{place} {building}" for place in _PLACES for building in _BUILDINGS]
    drawn.shuffle(names)
    drawn.shuffle(things)
    people = names[:look_alikes]
    pairs = list(zip(things, people, strict=False))[:QUESTIONS]
    make = {"three steps": _three_steps, "a number between": _number_between}.get(kind, _two_steps)
    documents, questions = make(drawn, pairs, people)
    if kind == "a false bridge":
        documents += _false_bridges(pairs, people)
    return World(kind, tuple(documents), tuple(questions))


def _designed(thing: str, person: str, at: int) -> str:
    return f"The {thing} was designed by {person} and opened in {1890 + at}."


def _two_steps(
    drawn: random.Random, pairs: list[tuple[str, str]], people: list[str]
) -> tuple[list[str], list[MadeQuestion]]:
    lived = {
        person: f"{person} attended the {drawn.choice(_PLACES)} secondary school and later lived in a house on "
        f"{drawn.choice(_STREETS)} Street number {number}."
        for number, person in enumerate(people, start=1)
    }
    questions = [
        MadeQuestion(
            text=f"In which house number did the designer of the {thing} live?",
            thing=thing,
            plan=f"FIRST: Who designed the {thing}?\nTHEN: In which house number did {{found}} live?",
            gold=(_designed(thing, person, at), lived[person]),
            answer=f"{person} lived in a house on {lived[person].partition(' house on ')[2]}",
            key=f"number {people.index(person) + 1}.",
        )
        for at, (thing, person) in enumerate(pairs)
    ]
    return [*lived.values(), *(question.gold[0] for question in questions)], questions


def _three_steps(
    drawn: random.Random, pairs: list[tuple[str, str]], people: list[str]
) -> tuple[list[str], list[MadeQuestion]]:
    made = _make_names(drawn, 2 * len(people))
    towns, rivers = made[: len(people)], made[len(people) :]
    born = {
        person: f"{person} was born in {town}, was a pupil of the {drawn.choice(_PLACES)} school and had two brothers."
        for person, town in zip(people, towns, strict=True)
    }
    flows = {
        person: f"A mill and a tannery stand in {town}, where the {river} flows past the old market."
        for person, town, river in zip(people, towns, rivers, strict=True)
    }
    questions = [
        MadeQuestion(
            text=f"Which water flows past the birthplace of the designer of the {thing}?",
            thing=thing,
            plan=f"FIRST: Who designed the {thing}?\nTHEN: Where was {{found}} born?\n"
            "THEN: Which water flows past the market of {found}?",
            gold=(_designed(thing, person, at), born[person], flows[person]),
            answer=flows[person],
            key=f"the {rivers[people.index(person)]} flows",
        )
        for at, (thing, person) in enumerate(pairs)
    ]
    return [*born.values(), *flows.values(), *(question.gold[0] for question in questions)], questions


def _make_names(drawn: random.Random, count: int) -> list[str]:
    """Return up to 1,500 different names of places."""
    middles = ["", *(each.lower() for each in _HEADS[:9])]
    names = [f"{head}{middle}{tail}" for head in _HEADS for middle in middles for tail in _TAILS]
    drawn.shuffle(names)
    return names[:count]


def _number_between(
    drawn: random.Random, pairs: list[tuple[str, str]], people: list[str]
) -> tuple[list[str], list[MadeQuestion]]:
    numbers = [str(number) for number in drawn.sample(range(1, 5 * len(people)), len(people))]
    held = {
        person: f"File {number} of the archive is in cupboard {drawn.randrange(1, 90)} and was bound by {person}."
        for person, number in zip(people, numbers, strict=True)
    }
    questions = [
        MadeQuestion(
            text=f"Who bound the archive's file about the {thing}?",
            thing=thing,
            plan=f"FIRST: Which number does the file about the {thing} have?\n"
            "THEN: Who bound file {found} of the archive?",
            gold=(f"The papers about the {thing} have the number {number} since {1890 + at}.", held[person]),
            answer=f"File {number} of the archive was bound by {person}.",
            key=person,
        )
        for at, ((thing, person), number) in enumerate(zip(pairs, numbers, strict=False))
    ]
    return [*held.values(), *(question.gold[0] for question in questions)], questions


def _false_bridges(pairs: list[tuple[str, str]], people: list[str]) -> Iterator[str]:
    """Yield passages that name another person in nearly the words of the right one."""
    for at, (thing, _) in enumerate(pairs):
        other, another = people[(at + 1) % len(people)], people[(at + 2) % len(people)]
        yield f"A guide of 1950 says that the {thing} was designed by {other} and opened later."
        yield f"The second {thing}, which was never built, would have been designed by {another}."

"""Made papers with metadata, and questions about them: the same each time.

Each machine has a paper of every kind and year that says nearly the same of it, so that only the metadata tells which
one a question means. No paper says its own kind, year or department in its text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MACHINES = ("boiler", "crane", "pump", "lathe", "press", "oven", "mixer", "kiln")
KINDS = ("contract", "memo", "report", "policy")
YEARS = range(2019, 2025)
DEPARTMENTS = ("purchasing", "production", "safety", "finance")
SUBJECTS = {"notice period": "weeks", "service interval": "months", "storage temperature": "degrees"}
EVENTS = ("the alarm rang", "the door jammed", "a belt tore", "an inspector fell")
"""Each is told once of each machine."""

PER_GROUP = len(MACHINES) * len(EVENTS)

GROUPS = {
    "right": "the filter that the question states",
    "unknown": "a field or a value that no document has",
    "unsaid": "a value that documents have and the question does not say",
    "mentioned": "a value that the question says, and not as a restriction",
    "alike": "the same, where papers inside the filter say the same as the one outside",
    "none": "no filter",
}


@dataclass(frozen=True, slots=True)
class FilterQuestion:
    """A question, the filter that a model proposes for it, and the ids of the papers that answer it."""

    group: str
    text: str
    proposed: str
    gold: frozenset[str]


def make_papers(dice: random.Random) -> list[dict[str, Any]]:
    """Return the papers as lines of JSONL."""
    papers = [
        _make_paper(dice, len(KINDS) * len(YEARS) * place + at, machine, kind, year)
        for place, machine in enumerate(MACHINES)
        for at, (kind, year) in enumerate((kind, year) for kind in KINDS for year in YEARS)
    ]
    for machine in MACHINES:
        mine = [paper for paper in papers if paper["machine"] == machine]
        for paper, event in zip(dice.sample(mine, len(EVENTS)), EVENTS, strict=True):
            kind, year = dice.choice([each for each in KINDS if each != paper["kind"]]), dice.choice(YEARS)
            paper["event"] = [event, kind, year]
            paper["text"] += f" After the {kind} of {year}, {event} at the {machine}."
    for department in DEPARTMENTS:
        for machine in MACHINES:
            said = " ".join(_say(dice, machine, subject) for subject in SUBJECTS)
            facts = {"kind": "handbook", "year": dice.choice(YEARS), "department": department}
            title = f"{department.capitalize()} Handbook"
            papers.append({"id": f"{department}-{machine}", "title": title, "text": said, "machine": machine, **facts})
    return papers


def _make_paper(dice: random.Random, number: int, machine: str, kind: str, year: int) -> dict[str, Any]:
    code, subject = f"{machine[0].upper()}-{1000 + number}", dice.choice([*SUBJECTS])
    other_kind, other_year = dice.choice([each for each in KINDS if each != kind]), dice.choice(YEARS)
    said = " ".join(_say(dice, machine, each) for each in SUBJECTS)
    follows = f"The {subject} of the {machine} {code} follows the {other_kind} of {other_year}."
    return {
        "id": code,
        "title": f"Paper {number}",
        "text": f"{said} {follows}",
        "kind": kind,
        "year": year,
        "department": dice.choice(DEPARTMENTS),
        "machine": machine,
        "follows": [subject, other_kind, str(other_year)],
    }


def _say(dice: random.Random, machine: str, subject: str) -> str:
    return f"The {subject} of the {machine} is {dice.randrange(2, 99)} {SUBJECTS[subject]}."


def make_questions(papers: list[dict[str, Any]], dice: random.Random) -> Iterator[FilterQuestion]:
    """Yield as many questions of each group."""
    numbered = [paper for paper in papers if "follows" in paper]
    for place in range(PER_GROUP):
        subject, machine = dice.choice([*SUBJECTS]), dice.choice(MACHINES)
        yield _make_right(papers, dice, place, f"the {subject} of the {machine}", machine)
        paper = dice.choice(numbered)
        code, gold = f"{paper['machine']} {paper['id']}", frozenset([paper["id"]])
        about, other_kind, other_year = paper["follows"]
        asked = f"What does the {about} of the {code} follow?"
        unknown = dice.choice(["colour = red", "kind = invoice", "year >= 2031", "author = Ada", "machine > 3"])
        yield FilterQuestion("unknown", asked, unknown, gold)
        kind = dice.choice([each for each in KINDS if each != paper["kind"]])
        year = dice.choice([each for each in YEARS if each != paper["year"]])
        unsaid = dice.choice([f"kind = {kind}", f"year = {year}", f"kind = {kind}; year <= {year}"])
        yield FilterQuestion("unsaid", asked, unsaid, gold)
        machine, told = MACHINES[place % len(MACHINES)], EVENTS[place // len(MACHINES)]
        (once,) = [each for each in numbered if each["machine"] == machine and each.get("event", [""])[0] == told]
        _, kind, year = once["event"]
        mentioned = f"kind = {kind}; year = {year}" if place % 2 else f"kind = {kind}"
        happened = f"Did it happen after the {kind} of {year} that {told} at the {machine}?"
        yield FilterQuestion("mentioned", happened, mentioned, frozenset([once["id"]]))
        mentioned = f"kind = {other_kind}; year = {other_year}" if place % 2 else f"kind = {other_kind}"
        stated = f"Which number of a {paper['machine']} follows the {other_kind} of {other_year} in its {about}?"
        alike = frozenset(
            each["id"]
            for each in numbered
            if (each["machine"], each["follows"]) == (paper["machine"], paper["follows"])
        )
        yield FilterQuestion("alike", stated, mentioned, alike)
        yield FilterQuestion("none", asked, "", gold)


def _make_right(
    papers: list[dict[str, Any]], dice: random.Random, place: int, about: str, machine: str
) -> FilterQuestion:
    # Of a paper that is there, so that there is an answer.
    paper = dice.choice([each for each in papers if each["machine"] == machine and "follows" in each])
    kind, year, department = paper["kind"], paper["year"], paper["department"]
    title = f"{department.capitalize()} Handbook"
    text, proposed, fits = [
        (
            f"What do contracts, memos and the like say of {about}? Only a {kind} since {year} counts.",
            f"kind = {kind}; year >= {year}",
            lambda paper: paper["kind"] == kind and paper["year"] >= year,
        ),
        (
            f"According to the {kind} of {year}, what is {about}?",
            f"kind = {kind}; year = {year}",
            lambda paper: paper["kind"] == kind and paper["year"] == year,
        ),
        (
            f"What is {about} in the {title}?",
            f"title = {title}",
            lambda paper: paper["title"] == title,
        ),
        (
            f"What is {about}, says the {department} department before {year + 1}?",
            f"department = {department}; year < {year + 1}",
            lambda paper: paper["department"] == department and paper["year"] <= year,
        ),
    ][place % 4]
    gold = frozenset(paper["id"] for paper in papers if paper["machine"] == machine and fits(paper))
    return FilterQuestion("right", text, proposed, gold)

"""Checks answers over two passages that are given in one sentence, with the right value and with wrong ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from anabranch.citations.read_passages import PassageText
from anabranch.citations.verification import verify
from benchmarks.report import Table
from evals.chains.gold_passages import GoldCollection, GoldQuestion

FILE = Path(__file__).with_name("one_sentence.jsonl")
SHOWN = 24
"""Passages beside each answer, as many as a search keeps by default."""
COLUMNS = ("answers", "value", "answers checked", "confirmed by one passage", "confirmed by two")


@dataclass(frozen=True, slots=True)
class OneSentence:
    """An answer in one sentence.

    Attributes:
        question: The question.
        claim: The answer.
        value: Where its last value comes from: the right one, that of another passage, or of none.
        passages: What it is checked against, as label and text.
    """

    question: str
    claim: str
    value: str
    passages: tuple[tuple[str, str], ...]


RIGHT, ELSEWHERE, NOWHERE = "right", "of another passage", "of no passage"


def read_written(file: Path = FILE) -> list[OneSentence]:
    """Return the answers that were written for this, each among passages of the other questions."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    every = [text for row in rows for text in (*row["passages"], row["elsewhere"])]
    found = []
    for row in rows:
        own = [*row["passages"], row["elsewhere"]]
        texts = tuple(("", text) for text in [*own, *(text for text in every if text not in own)][:SHOWN])
        for value, name in ((RIGHT, "right"), (ELSEWHERE, "of_elsewhere"), (NOWHERE, "nowhere")):
            found.append(OneSentence(row["question"], row["claim"].format(row[name]), value, texts))
    return found


def make_sentences(collection: GoldCollection) -> Iterator[OneSentence]:
    """Yield answers to each question of a collection: its own words with its value, and with those of other questions.

    The passages are those that answer the question, those that answer the other one, and further ones. A question is
    left out if no other one has a value that stands in none of its passages.
    """
    questions = [each for each in collection.questions if len(each.gold) > 1 and _is_value(each)]
    for at, question in enumerate(questions):
        others = [*questions[at + 1 :], *questions[:at]]
        other = next((each for each in others if _is_apart(each, question, _read(collection, question.gold))), None)
        if other is None:
            continue
        further = [key for key in chain(*(each.gold for each in others)) if key not in (*question.gold, *other.gold)]
        texts = _read(collection, list(dict.fromkeys([*question.gold, *other.gold, *further]))[:SHOWN])
        none = next((each for each in reversed(others) if _is_apart(each, question, texts)), None)
        for value, answered in ((RIGHT, question), (ELSEWHERE, other), (NOWHERE, none)):
            if answered is not None:
                claim = f"{question.text.rstrip('? ')}: {answered.spellings[0]}."
                yield OneSentence(question.text, claim, value, texts)


def _is_value(question: GoldQuestion) -> bool:
    return question.spellings[0].casefold() not in {"yes", "no"}


def _is_apart(other: GoldQuestion, question: GoldQuestion, texts: Sequence[tuple[str, str]]) -> bool:
    """Tell whether the answer to another question has none of the words of some texts, or of a question."""
    there = " ".join([question.text, *chain(*texts)]).casefold()
    return not any(word in there for word in other.spellings[0].casefold().split())


def _read(collection: GoldCollection, keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(collection.documents[key] for key in keys)


def check_sentences(sets: Mapping[str, Sequence[OneSentence]]) -> Table:
    """Return how many answers of each set are confirmed, and by how many passages."""
    return Table("chains-sentences", "Answers in one sentence", COLUMNS, tuple(_rows(sets)))


def _rows(sets: Mapping[str, Sequence[OneSentence]]) -> Iterator[tuple[str, ...]]:
    for name, answers in sets.items():
        for value in (RIGHT, ELSEWHERE, NOWHERE):
            held = [_count_passages(each) for each in answers if each.value == value]
            yield name, value, str(len(held)), str(held.count(1)), str(held.count(2))


def _count_passages(answer: OneSentence) -> int:
    """Return how many passages support an answer; 0 if something of it is not confirmed."""
    passages = {at: PassageText(str(at), text, label) for at, (label, text) in enumerate(answer.passages, start=1)}
    checked = verify(answer.claim, passages, answer.question)
    return 0 if checked.not_confirmed else len({each.number for each in checked.citations})

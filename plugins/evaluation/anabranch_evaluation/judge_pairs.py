"""Forty statements beside a passage, half of them true: whether a model that judges them can judge claims at all.

They were written for this: twins of one question, so that the words alone do not tell which is true; the true one is
put in other words than the passage, the false one is near to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch_evaluation.answer_quality import auc

FILE = Path(__file__).with_name("judge_pairs.jsonl")

ENOUGH = 0.8
"""Share of pairs of a true and a false statement of which the true one is the more probable, from which a judge helps.

Comparing words alone reaches .7 to .8 on labelled claims (`evals/claims.md`); a judge below that adds its own errors.
"""

LEAST_READ = 0.9
"""Share of the statements that have to get a yes or a no."""


@dataclass(frozen=True, slots=True)
class JudgePair:
    """A statement with the passage it is judged by.

    Attributes:
        kind: What a false twin has wrong: a number, a role, a denial ...
        language: ISO 639-1.
        label: What the passage is of.
        passage: Its words.
        question: That the statement answers.
        claim: The statement.
        is_true: Whether the passage says so.
    """

    kind: str
    language: str
    label: str
    passage: str
    question: str
    claim: str
    is_true: bool


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """How well a model told true statements from false ones.

    Attributes:
        auc: How often a true one was more probable than a false one; None where one side has no answer.
        held: True statements that it held to be true.
        refused: False ones that it held to be false.
        true: True ones that it gave an answer on.
        false: False ones that it gave an answer on.
        asked: All.
    """

    auc: float | None
    held: int
    refused: int
    true: int
    false: int
    asked: int

    @property
    def can_judge(self) -> bool:
        """Whether its judgement is worth a call."""
        is_read = self.true + self.false >= LEAST_READ * self.asked
        return is_read and self.auc is not None and self.auc >= ENOUGH


def read_judge_pairs() -> list[JudgePair]:
    """Return the statements that come with the program."""
    return [JudgePair(**json.loads(line)) for line in FILE.read_text("utf-8").splitlines()]


def judge_score(pairs: Sequence[JudgePair], chances: Sequence[float | None]) -> JudgeScore:
    """Return how well a model judged some statements, by how probable it said that each is true; None is no answer."""
    read = [(each.is_true, chance) for each, chance in zip(pairs, chances, strict=True) if chance is not None]
    true, false = ([chance for is_true, chance in read if is_true is wanted] for wanted in (True, False))
    held, refused = sum(chance >= 0.5 for chance in true), sum(chance < 0.5 for chance in false)
    return JudgeScore(auc(true, false), held, refused, len(true), len(false), len(pairs))

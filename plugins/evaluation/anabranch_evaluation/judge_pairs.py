"""Forty statements with passages, half of them true, that test whether a model can judge claims.

They come in pairs on one question: the true one is worded unlike the passage, and the false one is close to it, so that
words alone do not tell which is true.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch_evaluation.answer_quality import auc

FILE = Path(__file__).with_name("judge_pairs.jsonl")

ENOUGH = 0.8
"""AUC from which a judge helps: the share of pairs in which it finds the true statement more probable.

Comparing words alone reaches .7 to .8 on labelled claims (`evals/claims.md`); a judge below that adds its own errors.
"""

LEAST_READ = 0.9
"""Share of statements that need a yes or a no."""


@dataclass(frozen=True, slots=True)
class JudgePair:
    """A statement with the passage it is judged by.

    Attributes:
        kind: What a false statement gets wrong: a number, a role, a denial ...
        language: ISO 639-1.
        label: Title of the passage.
        passage: Its text.
        question: The question that the statement answers.
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
        auc: How often a true statement was more probable than a false one; None where one side has no answer.
        held: True statements judged true.
        refused: False statements judged false.
        true: True statements with an answer.
        false: False statements with an answer.
        asked: All statements.
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
    """Return the built-in statements."""
    return [JudgePair(**json.loads(line)) for line in FILE.read_text("utf-8").splitlines()]


def judge_score(pairs: Sequence[JudgePair], chances: Sequence[float | None]) -> JudgeScore:
    """Score a model by the probabilities that it gave to statements; None is no answer."""
    read = [(each.is_true, chance) for each, chance in zip(pairs, chances, strict=True) if chance is not None]
    true, false = ([chance for is_true, chance in read if is_true is wanted] for wanted in (True, False))
    held, refused = sum(chance >= 0.5 for chance in true), sum(chance < 0.5 for chance in false)
    return JudgeScore(auc(true, false), held, refused, len(true), len(false), len(pairs))

"""Reads what a model says about one window of passages that it has seen together: an order, with or without scores."""

from __future__ import annotations

from anabranch.parsing.relevance.ranking_reply import is_line_of_numbers, numbers_in
from anabranch.parsing.relevance.relevance_scores import Judgements, read_judgements
from anabranch.parsing.relevance.scale_alignment import on_ten
from anabranch.parsing.relevance.score_words import BEST

LEAST = 1.0
"""Relevance of the last passage in an order without scores: whatever is named helps a little."""

STEP = 0.001
"""Between equal scores the order in the reply decides; small enough to change nothing else."""


def read_listwise(reply: str, count: int) -> Judgements:
    """Read the best passages first, by scores where the reply has any, else by the order alone.

    Scores count more than the place in the list: models that give both sometimes list passages as they were shown.

    Args:
        reply: Anything a model wrote.
        count: How many passages it was shown, numbered from 1.

    Returns:
        The judgements, of distinct scores above 0 but for those that the reply itself puts at 0. Never raises.
    """
    judged = read_judgements(reply, count)
    if judged.scores and not is_line_of_numbers(reply):
        return judged._replace(scores=_told_apart(on_ten(judged.scores)))
    named = [number - 1 for number in numbers_in(reply)]
    known = list(dict.fromkeys(index for index in named if 0 <= index < count))
    step = (BEST - LEAST) / max(len(known) - 1, 1)
    scores = {index: BEST - step * place for place, index in enumerate(known)}
    return Judgements(scores, judged.repairs + len(named) - len(known), cut_off=False)


def _told_apart(scores: dict[int, float]) -> dict[int, float]:
    return {
        index: max(score - STEP * place, STEP / (place + 2)) if score > 0 else 0.0
        for place, (index, score) in enumerate(scores.items())
    }

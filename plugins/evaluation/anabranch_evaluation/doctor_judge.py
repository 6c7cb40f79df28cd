"""The check of `anabranch doctor --judge`: whether the chat model can tell true statements from false ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch.cli.installation_checks import DoctorCheck
from anabranch.errors import AnabranchError
from anabranch_evaluation.judge_pairs import ENOUGH, JudgePair, JudgeScore, judge_score, read_judge_pairs

if TYPE_CHECKING:
    from anabranch.models.chat import Chat


async def judge_check(sets: Sequence[str] | None, **options: str | None) -> DoctorCheck:
    """Let the chat model judge the built-in statements, one call each.

    Args:
        sets: `--set` pairs.
        options: Settings that have their own options; None where not given.
    """
    from anabranch.agent.graph.dependencies import load_model
    from anabranch.cli.settings_options import context_of

    pairs = read_judge_pairs()
    try:
        context = context_of(sets, **options)
        chat = await load_model(context)
        if chat is None:
            return DoctorCheck("judge", "problem", "no chat model is set", "Name one: --model PROVIDER:NAME.")
        score = judge_score(pairs, await _judged(chat, pairs))
    except AnabranchError as error:
        return DoctorCheck("judge", "problem", error.message, error.hint)
    return _verdict(chat, score, is_set=context.verify == "llm")


async def _judged(chat: Chat, pairs: Sequence[JudgePair]) -> list[float | None]:
    from anabranch.agent.graph.dependencies import MAX_CONCURRENCY
    from anabranch.agent.nodes.claim_judge import chance_of_yes
    from anabranch.models.provider_errors import failures_of

    gate = asyncio.Semaphore(MAX_CONCURRENCY)

    async def one(pair: JudgePair) -> float | None:
        async with gate:
            return await chance_of_yes(chat, pair.claim, [(1, pair.label, pair.passage)], pair.question)

    replies = await asyncio.gather(*map(one, pairs), return_exceptions=True)
    failures_of(replies)  # raises where all of them failed
    return [None if isinstance(reply, BaseException) else reply for reply in replies]


def _verdict(chat: Chat, score: JudgeScore, *, is_set: bool) -> DoctorCheck:
    found = "it gave no answer" if score.auc is None else f"AUC {score.auc:.2f}, where {ENOUGH:.2f} is enough"
    by = "by the probabilities that its server returns" if chat.tells_chances else "by its words yes and no only"
    figures = (
        f"{found}; {score.held} of {score.true} true statements held, {score.refused} of {score.false} false ones "
        f"refused, {score.asked - score.true - score.false} of {score.asked} without a yes or a no; {by}"
    )
    model = chat.settings.model
    if score.can_judge:
        hint = "" if is_set else "Use it with --set verify=llm, which costs one call per claim."
        return DoctorCheck("judge", "ok", f"{model} can judge claims: {figures}", hint)
    hint = "Leave verify at 'words': this model is wrong too often."
    return DoctorCheck("judge", "problem" if is_set else "note", f"{model} cannot judge claims: {figures}", hint)

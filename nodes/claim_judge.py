"""Further checks of an answer's claims: quotes that the model gives for them, and a judge of each claim."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from anabranch.agent.nodes.turn import Turn
from anabranch.agent.prompts import GUARD, JUDGE, JUDGE_ONE, QUOTE
from anabranch.citations.check_pool import check
from anabranch.citations.shared_words import LONGEST_NEAREST, Aligned, PassagePlace
from anabranch.citations.time_limit import TimeIsUp, TimeLimit
from anabranch.citations.verification import Attribution
from anabranch.models.chat import Chat
from anabranch.models.entailment import load_entailment
from anabranch.models.provider_errors import failures_of
from anabranch.parsing.numbered_lines import read_quotes
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.synthesis.context_window import Row, take_fitting
from anabranch.synthesis.drafts import fill_prompt
from anabranch.text.normalization import squeeze
from anabranch.types import Judgement

# Descriptions of the check for people, by the setting `verify`.
JUDGED = {
    "llm": "the chat model also compared each claim with the nearest words of the passages: its yes counts as found, "
    "its no as not confirmed",
    "nli": "a local model of natural language inference also compared each claim with the nearest words of the "
    "passages: what it finds entailed counts as found, anything else as not confirmed",
}

# Reasons why a claim is not confirmed, by judgement.
DOUBTS: Mapping[Judgement, str] = {
    "not_said": "the judge did not find it there",
    "contradicted": "the judge found it contradicted",
}

# Least probability of a yes, or of a no, for which a chat model decides; else the comparison of words does.
SURE = 0.6
# Most tokens of a reply to a yes-or-no question: some models begin with a sentence.
REPLY_TOKENS = 30
QUOTE_TOKENS = 80
# Most statements for which quotes are requested.
MOST_QUOTED = 8

JudgeWord = Judgement | Literal["unsure"]


class ToJudge(NamedTuple):
    """A claim with its index, the words that it is judged by, and the place of the first of them."""

    at: int
    claim: str
    rows: Sequence[Row]
    place: PassagePlace


@dataclass(frozen=True, slots=True)
class JudgedClaims:
    """The result of judging the claims of an answer.

    Attributes:
        found: The claims, with the judge's changes.
        judgements: The sure judgements, by claim.
        asked: How many claims were judged, surely or not.
        whole: How many claims should have been judged.
    """

    found: Attribution
    judgements: Mapping[str, Judgement]
    asked: int
    whole: int


async def ask_for_quotes(turn: Turn, chat: Chat, found: Attribution, question: str) -> Attribution:
    """Ask the model for quotes that support the unplaced claims, and look the quotes up."""
    unplaced = found.unplaced[:MOST_QUOTED]
    stated = "\n".join(f"{number}. {text}" for number, (_, text) in enumerate(unplaced, start=1))
    rows = [(number, each.label, each.text) for number, each in found.passages.items()]
    reply = QUOTE_TOKENS * len(unplaced)
    fitting = await _fit(turn, chat, rows, f"{GUARD} {QUOTE} {question} {stated}", reply=reply)
    if not unplaced or not fitting:
        return found
    user = fill_prompt(wrap(fitting, new_nonce()), question, QUOTE, f"Statements:\n{stated}")
    quotes = read_quotes(await chat.ask(GUARD, user, max_tokens=reply))
    places = {at: quotes[number] for number, (at, _) in enumerate(unplaced, start=1) if number in quotes}
    return await check(lambda limit: found.place_quotes(places, limit))


def list_judgeable(found: Attribution) -> list[tuple[int, str]]:
    """Return the place and text of each claim to judge.

    Claims with a number or a code that is in no passage are left out: no judge can find it there.
    """
    held = [(at, claim.text) for at, (claim, one) in enumerate(found.found) if one.places]
    left = [(at, claim) for at, claim in found.unplaced if not any(map(str.isdigit, found.found[at][1].reason))]
    return sorted(held + left)


async def judge_claims(turn: Turn, chat: Chat | None, found: Attribution, question: str, calls: int) -> JudgedClaims:
    """Judge each claim by the nearest words of the passages, with the configured judge; it may change the grade.

    Args:
        turn: The turn.
        chat: The chat model; `nli` needs none.
        found: The claims.
        question: The question that they answer.
        calls: Most model calls, one for each claim; claims without a call keep their grade.

    Raises:
        ModelError: No call succeeded.
    """
    settings, (claims, unread) = turn.settings, await check(partial(_find_words, found))
    asked = claims if settings.verify == "nli" else claims[:calls]
    outcomes: Sequence[JudgeWord | None] = []
    if settings.verify == "nli":
        outcomes = await asyncio.to_thread(_judge_by_inference, settings.verify_model or "", asked)
    elif chat is not None and asked:
        outcomes = await _judge_by_chat(chat, asked, question, turn.concurrency)
    # Not strict: without a model there are no outcomes.
    read: list[tuple[ToJudge, JudgeWord]] = [
        (each, outcome) for each, outcome in zip(asked, outcomes, strict=False) if outcome is not None
    ]
    sure: list[tuple[ToJudge, Judgement]] = [(each, outcome) for each, outcome in read if outcome != "unsure"]
    changed = {each.at: _apply_judgement(found.found[each.at][1], each, outcome) for each, outcome in sure}
    judgements: dict[str, Judgement] = {each.claim: outcome for each, outcome in sure}
    return JudgedClaims(found.replace_alignments(changed), judgements, len(read), len(claims) + unread)


def _find_words(found: Attribution, limit: TimeLimit) -> tuple[list[ToJudge], int]:
    """Return the claims to judge, each with the words nearest to it, and how many no time was left for.

    A claim that shares no word with any passage cannot be judged.
    """
    words, claims, todo, done = found.words.within(limit), list[ToJudge](), list_judgeable(found), 0
    with suppress(TimeIsUp):
        for at, claim in todo:
            places = words.find_nearest(claim, found.found[at][1].places)
            done += 1
            if places:
                rows = [
                    (number, found.passages[each.number].label.replace("\n", ", "), words.read_place(each))
                    for number, each in enumerate(places, start=1)
                ]
                claims.append(ToJudge(at, claim, rows, places[0]))
    return claims, len(todo) - done


def _judge_by_inference(folder: str, claims: Sequence[ToJudge]) -> Sequence[JudgeWord | None]:
    words = [(each.claim, "\n".join(text for _, _, text in each.rows)) for each in claims]
    return load_entailment(folder).judge(words) if words else []


async def _judge_by_chat(
    chat: Chat, claims: Sequence[ToJudge], question: str, concurrency: int
) -> list[JudgeWord | None]:
    """Ask about each claim in its own call; None if the call failed, or the reply is neither yes nor no.

    Asked about a numbered list, a model of 1.5 billion parameters finds hardly any statement entailed.
    """
    gate = asyncio.Semaphore(concurrency)

    async def one(each: ToJudge) -> float | None:
        async with gate:
            return await chance_of_yes(chat, each.claim, each.rows, question)

    replies = await asyncio.gather(*map(one, claims), return_exceptions=True)
    failures_of(replies)
    return [None if isinstance(reply, BaseException) or reply is None else _read_chance(reply) for reply in replies]


async def chance_of_yes(chat: Chat, claim: str, rows: Sequence[Row], question: str) -> float | None:
    """Ask a chat model whether some passages say what a claim says; see `Chat.ask_yes`."""
    asked = f"{wrap(rows, new_nonce())}\n\nQuestion: {question}\n\nStatement: {claim}\n\n{JUDGE_ONE}"
    return await chat.ask_yes(JUDGE, asked, max_tokens=REPLY_TOKENS)


def _read_chance(chance: float) -> JudgeWord:
    if chance >= SURE:
        return "entailed"
    return "not_said" if chance <= 1 - SURE else "unsure"


def _apply_judgement(one: Aligned, judged: ToJudge, judgement: Judgement) -> Aligned:
    """Return the alignment of a claim after a judgement by the words nearest to it."""
    if judgement == "entailed":
        return one if one.places else Aligned("found", (judged.place,), SURE)
    nearest = squeeze(judged.rows[0][-1])[:LONGEST_NEAREST]
    return Aligned("not_confirmed", score=one.score, reason=DOUBTS[judgement], nearest=nearest)


async def _fit(turn: Turn, chat: Chat, rows: Sequence[Row], asked: str, *, reply: int) -> list[Row]:
    embedder = (await turn.corpus()).embedder
    context = turn.settings.context_tokens or chat.context_tokens
    window = turn.settings.window_tokens
    return await asyncio.to_thread(take_fitting, embedder, rows, asked, context=context, window=window, reply=reply)

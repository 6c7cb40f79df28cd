"""Further checks of an answer's claims: words that the model says support them, and a judge of what follows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from anabranch.agent.nodes.turn import Turn
from anabranch.agent.prompts import GUARD, JUDGE, JUDGE_ONE, QUOTE
from anabranch.citations.alignment import Aligned
from anabranch.citations.check_pool import check
from anabranch.citations.claim_windows import ClaimWindow, ClaimWindows, make_rows
from anabranch.citations.known_facts import LONGEST_NEAREST
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

# What was checked, for people, by the setting `verify`.
JUDGED = {
    "llm": "each claim was compared with the words that are nearest to it, by the chat model too: its yes counts as "
    "found, its no as not confirmed",
    "nli": "each claim was compared with the words that are nearest to it, by a local model of natural language "
    "inference too: what it finds entailed counts as found, anything else as not confirmed",
}

# Why a claim is not confirmed, by the judgement.
DOUBTS: Mapping[Judgement, str] = {
    "not_said": "the judge did not find it there",
    "contradicted": "the judge found it contradicted",
}

# Probability of a yes, or of a no, from which a chat model's word counts; between them the words of the claim do.
SURE = 0.6
# Tokens of a reply to a question of yes or no: some models begin with a sentence.
REPLY_TOKENS = 30
QUOTE_TOKENS = 80
# Statements that words are asked for: one that nothing in the passages is like is seldom theirs.
MOST_QUOTED = 8

JudgeWord = Judgement | Literal["unsure"]


class ToJudge(NamedTuple):
    """A claim with what it is judged by: its place among the claims, and the windows that speak most of it."""

    at: int
    claim: str
    windows: Sequence[ClaimWindow]


@dataclass(frozen=True, slots=True)
class JudgedClaims:
    """What a judge made of the claims of an answer.

    Attributes:
        found: The claims, with what the judge changed.
        judgements: What it was sure of, by the claim.
        asked: Claims that it gave an answer on, sure or not.
        whole: Claims that it should have.
    """

    found: Attribution
    judgements: Mapping[str, Judgement]
    asked: int
    whole: int


async def ask_for_quotes(turn: Turn, chat: Chat, found: Attribution, question: str) -> Attribution:
    """Ask the model for the words that say what the program could not place, and look those up."""
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
    """Return the place of each claim that a judge is asked about, and the claim.

    What has a number or a name that is in no passage is left to the words: no judge can find it there.
    """
    held = [(at, claim) for at, claim, _ in found.evidence]
    return sorted(held + [(at, claim) for at, claim in found.unplaced if not found.found[at][1].reason])


async def judge_claims(turn: Turn, chat: Chat | None, found: Attribution, question: str, calls: int) -> JudgedClaims:
    """Judge each claim by the words that are nearest to it, by the check that is chosen; it lifts a claim or marks it.

    Args:
        turn: The turn.
        chat: The chat model; `nli` needs none.
        found: The claims.
        question: That they answer.
        calls: That the model may be asked for at most, one a claim; what none is left for keeps what words say.

    Raises:
        ModelError: No call succeeded.
    """
    settings, claims = turn.settings, await asyncio.to_thread(_find_windows, found, question)
    asked = claims if settings.verify == "nli" else claims[:calls]
    outcomes: Sequence[JudgeWord | None] = []
    if settings.verify == "nli":
        outcomes = await asyncio.to_thread(_judge_by_inference, settings.verify_model or "", asked)
    elif chat is not None and asked:
        outcomes = await _judge_by_chat(chat, asked, question, turn.concurrency)
    # Not strict: without a model nothing came of any.
    read: list[tuple[ToJudge, JudgeWord]] = [
        (each, outcome) for each, outcome in zip(asked, outcomes, strict=False) if outcome is not None
    ]
    sure: list[tuple[ToJudge, Judgement]] = [(each, outcome) for each, outcome in read if outcome != "unsure"]
    changed = {each.at: _apply_judgement(found.found[each.at][1], each.windows[0], outcome) for each, outcome in sure}
    return JudgedClaims(
        found.replace_alignments(changed), {each.claim: outcome for each, outcome in sure}, len(read), len(claims)
    )


def _find_windows(found: Attribution, question: str) -> list[ToJudge]:
    windows = ClaimWindows(found.passages, question)
    claims = []
    for at, claim in list_judgeable(found):
        one = found.found[at][1]
        claims.append(ToJudge(at, claim, windows.find_windows(claim, (one.number, one.span) if one.number else None)))
    # What shares no word with any passage has nothing to be judged by.
    return [each for each in claims if each.windows]


def _judge_by_inference(folder: str, claims: Sequence[ToJudge]) -> Sequence[JudgeWord | None]:
    words = [(each.claim, "\n".join(window.words for window in each.windows)) for each in claims]
    return load_entailment(folder).judge(words) if words else []


async def _judge_by_chat(
    chat: Chat, claims: Sequence[ToJudge], question: str, concurrency: int
) -> list[JudgeWord | None]:
    """Ask about each claim in a call of its own; None where the call failed, or the reply is neither yes nor no.

    Of a numbered list a model of 1.5 billion parameters finds hardly one statement entailed.
    """
    gate = asyncio.Semaphore(concurrency)

    async def one(each: ToJudge) -> float | None:
        async with gate:
            return await chance_of_yes(chat, each.claim, make_rows(each.windows), question)

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


def _apply_judgement(one: Aligned, window: ClaimWindow, judgement: Judgement) -> Aligned:
    """Return where a claim stands after it was judged by a window."""
    if judgement == "entailed":
        return one if one.number else Aligned("found", window.number, window.span, SURE)
    return Aligned("not_confirmed", reason=DOUBTS[judgement], nearest=squeeze(window.words)[:LONGEST_NEAREST])


async def _fit(turn: Turn, chat: Chat, rows: Sequence[Row], asked: str, *, reply: int) -> list[Row]:
    embedder = (await turn.corpus()).embedder
    context = turn.settings.context_tokens or chat.context_tokens
    window = turn.settings.window_tokens
    return await asyncio.to_thread(take_fitting, embedder, rows, asked, context=context, window=window, reply=reply)

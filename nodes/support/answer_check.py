"""Further checks of an answer's claims: words that the model says support them, and a judge of what follows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.context_window import Row, fitting
from anabranch.agent.nodes.support.dependencies import corpus_of, max_concurrency
from anabranch.agent.nodes.support.drafts import asks_for_markers, prompt
from anabranch.agent.prompts import GUARD, JUDGE, JUDGE_ONE, QUOTE
from anabranch.citations.alignment import Aligned
from anabranch.citations.check_pool import check
from anabranch.citations.verification import Attribution
from anabranch.models.chat import Chat
from anabranch.models.entailment import load_entailment
from anabranch.models.provider_errors import failures_of
from anabranch.parsing.numbered_lines import Judgement, read_judgements, read_quotes, read_yes
from anabranch.safety.prompt_envelope import new_nonce, wrap

# What was checked, for people, by the setting `verify`.
JUDGED = {
    "llm": "each claim was compared with its words by the chat model; what it found contradicted or unsaid lost them",
    "nli": "each claim was compared with its words by a local model of natural language inference; what it found "
    "contradicted or unsaid lost them",
}

# Tokens of a reply for each statement that is judged.
REPLY_TOKENS = 30
QUOTE_TOKENS = 80
# Statements that words are asked for: one that nothing in the passages is like is seldom theirs.
MOST_QUOTED = 8


def calls_to_judge(context: Context, chat: Chat, found: Attribution) -> int:
    """Return how many calls the chat model is asked for: one for all claims, or where it is asked plainly one each."""
    if context.verify != "llm":
        return 0
    return 1 if asks_for_markers(context, chat) else len(found.evidence)


async def with_quotes(context: Context, chat: Chat, found: Attribution, question: str) -> Attribution:
    """Ask the model for the words that say what the program could not place, and look those up."""
    unplaced = found.unplaced[:MOST_QUOTED]
    stated = "\n".join(f"{number}. {text}" for number, (_, text) in enumerate(unplaced, start=1))
    rows = [(number, each.label, each.text) for number, each in found.passages.items()]
    reply = QUOTE_TOKENS * len(unplaced)
    shown = await _fitting(context, chat, rows, f"{GUARD} {QUOTE} {question} {stated}", reply=reply)
    if not unplaced or not shown:
        return found
    user = prompt(wrap(shown, new_nonce()), question, QUOTE, f"Statements:\n{stated}")
    quotes = read_quotes(await chat.ask(GUARD, user, max_tokens=reply))
    places = {at: quotes[number] for number, (at, _) in enumerate(unplaced, start=1) if number in quotes}
    return await check(lambda limit: found.quoted(places, limit))


async def judged(context: Context, chat: Chat | None, found: Attribution, calls: int) -> list[tuple[int, Judgement]]:
    """Judge each claim that has evidence against its words, by the check that is chosen.

    Args:
        context: The settings.
        chat: The chat model; `nli` needs none.
        found: The claims.
        calls: That the model may be asked for at most; in one call there is room for some claims alone.

    Returns:
        The place of each claim that was judged, and the judgement.

    Raises:
        ModelError: No call succeeded.
    """
    evidence = found.evidence
    if not evidence:
        return []
    pairs = [(claim, words) for _, claim, words in evidence]
    if context.verify == "nli":
        model = await asyncio.to_thread(load_entailment, context.verify_model or "")
        judgements: Sequence[Judgement | None] = await asyncio.to_thread(model.judge, pairs)
    elif chat is None or not calls:
        return []
    elif not asks_for_markers(context, chat):
        judgements = await _asked_alone(chat, pairs[:calls])
    else:
        rows = [(n, "", f"Statement: {claim}\nEvidence: {words}") for n, (claim, words) in enumerate(pairs, start=1)]
        shown = await _fitting(context, chat, rows, JUDGE, each=REPLY_TOKENS)
        if not shown:
            return []
        reply = await chat.ask(JUDGE, wrap(shown, new_nonce()), max_tokens=REPLY_TOKENS * len(shown))
        judgements = read_judgements(reply, len(shown))
    # Not strict: there may have been calls, or room in the one call, for the first claims alone.
    return [(at, each) for (at, *_), each in zip(evidence, judgements, strict=False) if each is not None]


async def _asked_alone(chat: Chat, pairs: Sequence[tuple[str, str]]) -> list[Judgement | None]:
    """Ask about each claim in a call of its own; None where the call failed.

    Of a numbered list a model of 1.5 billion parameters finds hardly one statement entailed.
    """
    gate = asyncio.Semaphore(max_concurrency())

    async def one(claim: str, words: str) -> Judgement:
        user = f"{wrap([(1, '', words)], new_nonce())}\n\nStatement: {claim}\n\n{JUDGE_ONE}"
        async with gate:
            return "entailed" if read_yes(await chat.ask(GUARD, user, max_tokens=REPLY_TOKENS)) else "not_said"

    replies = await asyncio.gather(*(one(*pair) for pair in pairs), return_exceptions=True)
    failures_of(replies)
    return [None if isinstance(reply, BaseException) else reply for reply in replies]


async def _fitting(
    context: Context, chat: Chat, rows: Sequence[Row], asked: str, *, reply: int = 0, each: int = 0
) -> list[Row]:
    corpus = await corpus_of(context)
    return await asyncio.to_thread(fitting, context, corpus.embedder, chat, rows, asked, reply=reply, each=each)


def after_judgement(found: Attribution, judgements: Sequence[tuple[int, Judgement]]) -> Attribution:
    """Take the evidence from the claims that do not follow from it."""
    refuted = {at: Aligned("unsupported") for at, judgement in judgements if judgement != "entailed"}
    return found.changed(refuted)

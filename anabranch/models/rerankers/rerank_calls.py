"""One question to the model about numbered texts, and many of them at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.models.provider_errors import failures_of
from anabranch.models.usage import count_repairs, meter, note_failure
from anabranch.parsing.relevance_scores import Judgements, read_judgements, says_none
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.safety.prompt_template import messages

# A text is cut here for judging: relevance shows early, and a batch must fit a small context.
MAX_CHARS = 2_000

# Length of a reply: for each judgement, and for what models write around them.
TOKENS_EACH, TOKENS_AROUND = 24, 60


def user_text(question: str, texts: Sequence[str]) -> str:
    """Return what a call shows of some texts, which are numbered from 1."""
    return _prompt_text(_numbered_texts(texts), question)


def _numbered_texts(texts: Sequence[str]) -> str:
    return wrap([(number, "", text[:MAX_CHARS]) for number, text in enumerate(texts, start=1)], new_nonce())


def _prompt_text(passages: str, question: str) -> str:
    return f"{passages}\n\nQuestion: {question}"


def reply_tokens(texts: int) -> int:
    """Return the length that a reply about so many texts may have."""
    return TOKENS_EACH * texts + TOKENS_AROUND


async def judge(chat: Chat, system: str, question: str, texts: Sequence[str]) -> Judgements:
    """Ask about some texts in one call; they are numbered from 1 in the order given.

    Returns:
        The judgements; no scores where the reply says that no text helps.

    Raises:
        ModelError: The provider failed, or nothing in its reply can be read.
    """
    # Lines and no JSON: of a reply that is cut off, every whole line still counts.
    passages = _numbered_texts(texts)
    told, user = messages(system, _prompt_text(passages, question), context_str=passages, query_str=question)
    reply = await chat.ask(told, user, max_tokens=reply_tokens(len(texts)))
    judged = read_judgements(reply, len(texts))
    count_repairs(judged.repairs)
    if not judged.scores and not says_none(reply):
        said = " ".join(reply.split())[:80]
        raise ModelError(f"{chat.settings.model!r} judged none of {len(texts)} passages: its reply begins {said!r}.")
    return judged


async def judge_all(
    chat: Chat, system: str, question: str, batches: Sequence[Sequence[str]], gate: asyncio.Semaphore
) -> list[Judgements | None]:
    """Ask about several batches at the same time, as many as the gate lets through.

    Returns:
        One per batch; None where the call failed or its reply cannot be read, which is noted for the answer.

    Raises:
        ModelError: That was so for every batch.
        UserError: The key or the model's name is wrong.
    """

    async def one(texts: Sequence[str]) -> Judgements:
        async with gate:
            # The others would take as long again, one after the other.
            if meter().timed_out:
                raise ModelError(f"{chat.settings.model!r} was not asked: a call before it ran out of time.")
            return await judge(chat, system, question, texts)

    replies = await asyncio.gather(*(one(texts) for texts in batches), return_exceptions=True)
    failures = failures_of(replies)
    if failures:
        note_failure(f"{len(failures)} of {len(batches)} calls failed; the first: {failures[0]}")
    return [None if isinstance(reply, BaseException) else reply for reply in replies]

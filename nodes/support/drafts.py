"""What the writing steps share: what a model is shown of a window, and what becomes of its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.audit_events import note
from anabranch.agent.nodes.support.dependencies import chunks_of
from anabranch.agent.nodes.support.state_records import Degraded, Draft, Excerpt
from anabranch.agent.prompts import CITE, GUARD
from anabranch.citations.passage_text import PassageText
from anabranch.citations.read_passages import passage_text
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.parsing import read_answer
from anabranch.parsing.answer_reply import MARKER
from anabranch.readers.document import Chunk
from anabranch.safety.prompt_envelope import OPENING, new_nonce, wrap
from anabranch.safety.prompt_template import filled, is_template

# Characters of the instructions that no answer begins with.
_TOLD = 80
_WORDS = re.compile(r"\w+")


def instructions(context: Context) -> tuple[str, ...]:
    """Return the instructions to a model that writes: none of them belongs into an answer."""
    # Those in force, also where a caller has put their own in the place of ours.
    return (GUARD, CITE, context.create_prompt, context.refine_prompt, context.reduce_prompt)


def asks_for_markers(context: Context, chat: Chat) -> bool:
    """Tell whether a model is asked for markers; with `auto`, one with a published profile at its provider's."""
    if context.answer_form != "auto":
        return context.answer_form != "plain"
    # Small ones copy the example: of a 1.5 B model 36 of 49 replies ended in the markers of the prompt, and some were
    # nothing else. Who serves a model at an address of their own may serve any, whatever it is called.
    hosted = chat.settings.base_url is None and chat.context_tokens is not None
    return hosted and not chat.learned.marks_alone


def cites_documents(context: Context, chat: Chat) -> bool:
    """Tell whether passages are sent as documents, which the provider cites by itself."""
    return chat.takes_documents and context.answer_form != "quoted" and asks_for_markers(context, chat)


def asking(context: Context, chat: Chat) -> str:
    """Return what a model is asked to do with the passages of a window."""
    marks = asks_for_markers(context, chat) and not cites_documents(context, chat)
    cite = [CITE] if marks else []
    return "\n".join([*cite, context.create_prompt])


def prompt(passages: str, question: str, ask: str, *between: str, existing: str = "") -> str:
    """Return a user message: passages first, so that a server which has read them can go on from there."""
    if is_template(ask):
        return filled(ask, context_str=passages, query_str=question, existing_answer=existing)
    so_far = [f"Answer so far: {existing}"] if existing else []
    return "\n\n".join([passages, f"Question: {question}", *so_far, *between, ask])


def label(chunk: Chunk) -> str:
    """Return how a passage is introduced to the model: title, heading and page."""
    page = f"p. {chunk.page}" if chunk.page is not None else ""
    return ", ".join(part for part in (chunk.title or chunk.source, chunk.heading, page) if part)


async def window_text(context: Context, state: Mapping[str, Any], excerpts: Sequence[Excerpt]) -> str:
    """Return the numbered passages of one window inside their envelope; empty where all of them are gone."""
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts])
    await note("read", context, found.values(), step="write")
    rows = [
        (excerpt["number"], label(chunk), piece_of(chunk, excerpt))
        for excerpt in excerpts
        if (chunk := found.get(excerpt["id"])) is not None
    ]
    return wrap(rows, new_nonce()) if rows else ""


async def passages_of(
    context: Context, state: Mapping[str, Any], excerpts: Sequence[Excerpt]
) -> tuple[dict[int, PassageText], dict[str, Chunk]]:
    """Return what some excerpts show, by their numbers, as claims are aligned with it; and the chunks they are of."""
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts])
    passages = {
        excerpt["number"]: _passage(found[excerpt["id"]], excerpt) for excerpt in excerpts if excerpt["id"] in found
    }
    return passages, found


def _passage(chunk: Chunk, excerpt: Excerpt) -> PassageText:
    """Return what the window showed of a passage, and what says what it is about."""
    about = "\n".join(dict.fromkeys(part for part in (chunk.title, chunk.heading, chunk.source) if part))
    return passage_text(excerpt["id"], piece_of(chunk, excerpt), about)


def gone(window: int) -> Degraded:
    """Return the record of a window, from 1, of which no passage is left: nobody is asked about nothing."""
    reason = "its passages are gone: their documents were changed or removed since the search"
    return Degraded(step=f"window:{window}", reason=reason)


def piece_of(chunk: Chunk, excerpt: Excerpt) -> str:
    """Return the characters of the chunk that the window shows; spans are positions in the document."""
    return chunk.text[max(excerpt["start"] - chunk.start, 0) : max(excerpt["end"] - chunk.start, 0)]


def draft_of(
    reply: str, *, window: int, told: Sequence[str] = (), question: str = "", chat: Chat | None = None
) -> Draft:
    """Read a reply.

    Args:
        reply: What the model wrote.
        window: Windows read so far.
        told: Instructions: a model that begins with them, or repeats all of its prompt, has not answered.
        question: A model that only repeats it has not answered; "X opened on which date?" may well be answered by
            "X opened on 4 May."
        chat: The model: one that writes markers and no words is not asked for them again.

    Raises:
        ModelError: The reply holds no answer.
    """
    # Markers alone are no answer, though a filter for empty replies lets them by.
    answer = read_answer(reply)
    words = MARKER.sub("", answer).strip(" ,;.\n")
    if answer and not words and chat is not None:
        chat.learned.marks_alone = True
    if not words or _repeats(answer, told) or _asks(words, question, told) or reply.lstrip().startswith(OPENING):
        msg = "The model's reply holds no answer."
        raise ModelError(msg, hint="Try again, or another model.")
    return Draft(answer=answer, window=window, keeps=0)


def _repeats(answer: str, told: Sequence[str]) -> bool:
    """Tell whether an answer begins as the instructions do."""
    said = " ".join(answer.split())
    return any(said.startswith(" ".join(text.split())[:_TOLD]) for text in told if text.strip())


def _asks(words: str, question: str, told: Sequence[str]) -> bool:
    """Tell whether an answer says no more than the question does, and what stands behind it in the prompt."""
    said, asked, *parts = (" ".join(_WORDS.findall(text)).casefold() for text in (words, question, *told))
    # The prompt writes the question so: a copy of that line is the question, too.
    said = said.removeprefix("question ")
    # A copy may be cut off; a short one is an answer: "Delhi" to "Delhi or Mumbai, which is larger?"
    if asked and len(said) >= _TOLD and asked.startswith(said):
        return True
    if not asked or not f"{said} ".startswith(f"{asked} "):
        return False
    rest = said[len(asked) :].strip()
    return not rest or any(f"{part} ".startswith(f"{rest} ") or rest.startswith(part[:_TOLD]) for part in parts if part)


def side_by_side(drafts: Sequence[Draft]) -> Draft:
    """Return the answers one after the other."""
    return {**drafts[0], "answer": "\n\n".join(draft["answer"] for draft in drafts)}

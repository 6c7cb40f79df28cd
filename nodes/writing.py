"""Shared by the steps that write an answer: what they show and ask a model, and how they stream the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from anabranch.agent.prompts import CITE, GUARD, ROWS
from anabranch.citations.citation_record import piece_of
from anabranch.errors import ModelError
from anabranch.models.usage import note_failure
from anabranch.parsing import AnswerStream, read_answer
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.synthesis.context_window import Room, find_room
from anabranch.synthesis.drafts import fill_prompt, label, read_draft
from anabranch.text.sentences import spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from anabranch.agent.nodes.settings import Context
    from anabranch.agent.nodes.turn import Turn
    from anabranch.citations.read_passages import PassageText
    from anabranch.models.chat import Chat
    from anabranch.types import Chunk, Draft, Excerpt

_GONE = "its documents were changed or removed since the search"


def new_message_id() -> str:
    """Return the id that the streamed chunks and the final message share."""
    return f"answer-{uuid4()}"


def instructions(settings: Context) -> tuple[str, ...]:
    """Return the instructions to a model that writes, which must not appear in an answer."""
    return (GUARD, CITE, settings.create_prompt, settings.refine_prompt, settings.reduce_prompt)


def asks_for_markers(settings: Context, chat: Chat) -> bool:
    """Tell whether a model is asked for markers; with `auto`, only a hosted model with a published profile."""
    if settings.answer_form != "auto":
        return settings.answer_form != "plain"
    # Small models copy the example: 36 of 49 replies of a 1.5 B model ended in the markers of the prompt. With a
    # `base_url`, the name does not tell which model is served.
    return chat.is_hosted and not chat.learned.marks_alone


def cites_documents(settings: Context, chat: Chat) -> bool:
    """Tell whether passages are sent as documents, which the provider cites by itself."""
    return chat.takes_documents and settings.answer_form != "quoted" and asks_for_markers(settings, chat)


def ask_about_window(settings: Context, chat: Chat, passages: str, question: str) -> str:
    """Return the user message that asks for an answer from the passages of a window."""
    marks = asks_for_markers(settings, chat) and not cites_documents(settings, chat)
    cite = [CITE] if marks else []
    return fill_prompt(passages, question, "\n".join([*cite, settings.create_prompt]))


async def measure_room(
    turn: Turn, chat: Chat | None, question: str, labels: Iterable[str] = (), *, rows: bool = False
) -> Room:
    """Return the room for passages in the calls that write an answer, or that list rows.

    Raises:
        SettingsError: The instructions, the question and the reply leave no room for passages.
    """
    settings = turn.settings
    return find_room(
        (await turn.corpus()).embedder,
        instructions=(
            f"{GUARD} {ROWS if rows else f'{settings.create_prompt} {CITE}'}",
            f"{GUARD} {settings.refine_prompt}",
            settings.reduce_prompt,
        ),
        question=question,
        labels=labels,
        context_tokens=(settings.context_tokens or chat.context_tokens) if chat is not None else None,
        answer_tokens=settings.answer_tokens,
        may_refine=settings.synthesis in ("auto", "refine"),
    )


async def wrap_window(turn: Turn, excerpts: Sequence[Excerpt]) -> str:
    """Return the numbered passages of one window in their envelope; empty if all of them were removed."""
    chunks = await turn.chunks([excerpt["id"] for excerpt in excerpts])
    await turn.audit("read", chunks.values(), step="write")
    rows = [
        (excerpt["number"], label(chunk), piece_of(chunk, excerpt))
        for excerpt in excerpts
        if (chunk := chunks.get(excerpt["id"])) is not None
    ]
    return wrap(rows, new_nonce()) if rows else ""


def skip_window(turn: Turn, window: int) -> None:
    """Report that no passage of a window, numbered from 1, is left, so the model is not asked."""
    turn.degraded(f"window:{window}", _GONE)


async def read_passages(turn: Turn, excerpts: Sequence[Excerpt]) -> tuple[dict[int, PassageText], dict[str, Chunk]]:
    """Return the passages that excerpts show, by their numbers, for the claim check; and their chunks by id."""
    chunks = await turn.chunks([excerpt["id"] for excerpt in excerpts])
    passages = {
        excerpt["number"]: _passage(chunks[excerpt["id"]], excerpt) for excerpt in excerpts if excerpt["id"] in chunks
    }
    return passages, chunks


def _passage(chunk: Chunk, excerpt: Excerpt) -> PassageText:
    """Return the words of an excerpt with their label, for the claim check."""
    from anabranch.citations.read_passages import passage_text

    about = "\n".join(dict.fromkeys(part for part in (chunk.title, chunk.heading, chunk.source) if part))
    return passage_text(excerpt["id"], piece_of(chunk, excerpt), about)


async def measure_support(answer: str, passages: Mapping[int, PassageText], question: str = "") -> float:
    """Return the share of a draft's claims that have evidence, to choose between drafts; `cite` checks the answer."""
    from anabranch.citations.check_pool import check
    from anabranch.citations.verification import verify

    return await check(lambda limit: verify(answer, passages, question, limit).share)


async def write_from_window(turn: Turn, chat: Chat, passages: str, question: str, *, window: int) -> Draft:
    """Let the model answer from one window, without streaming.

    Raises:
        ModelError: It failed, or its reply holds no answer.
    """
    settings = turn.settings
    user, documents = ask_about_window(settings, chat, passages, question), cites_documents(settings, chat)
    reply = await chat.ask(GUARD, user, max_tokens=settings.answer_tokens, documents=documents)
    return read_draft(reply, window=window, instructions=instructions(settings), question=question, chat=chat)


async def write_live(
    turn: Turn,
    chat: Chat,
    system: str,
    user: str,
    *,
    message_id: str,
    given: Sequence[str],
    takes_part: bool = True,
    documents: bool = False,
    on_begin: Callable[[], object] | None = None,
) -> str:
    """Let the model write, and stream its answer; `on_begin` is called when its first words arrive.

    Links and the instructions are held back, except words of `given`: the passages and the question. If the model
    breaks off, the whole sentences before that are the reply, if a part is of use (`takes_part`). The reply is always
    streamed, because LangGraph does not say which streams were requested.

    Raises:
        ModelError: The model broke off before it had written a sentence.
    """
    stream = AnswerStream(instructions=instructions(turn.settings), given=given)
    # The unfiltered reply, because claims are looked for in what the model wrote.
    reply: list[str] = []
    try:
        async for piece in chat.stream(system, user, max_tokens=turn.settings.answer_tokens, documents=documents):
            if on_begin is not None:
                on_begin()
            reply.append(piece)
            turn.show_answer(message_id, stream.feed(piece))
    except ModelError as error:
        part = _whole_sentences("".join(reply))
        if not takes_part or not read_answer(part):
            raise
        note_failure(f"{error.message} The answer is what the model had written before that.")
        return part
    turn.show_answer(message_id, stream.finish())
    return "".join(reply)


def _whole_sentences(text: str) -> str:
    """Return a text without its last sentence, which may be incomplete."""
    found = spans(text)
    return text[: found[-1][0]] if found else ""

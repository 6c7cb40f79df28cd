"""The final answer as the model writes it, in the `messages` stream."""

from __future__ import annotations

from uuid import uuid4

from langchain_core.messages import AIMessageChunk
from langgraph.graph.message import push_message

from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.models.usage import note_failure
from anabranch.parsing import AnswerStream, read_answer
from anabranch.text.sentences import spans


def new_message_id() -> str:
    """Return the id that the streamed chunks and the final message share."""
    return f"answer-{uuid4()}"


def show(message_id: str, text: str) -> None:
    """Put a piece of the answer into the `messages` stream."""
    if text:
        push_message(AIMessageChunk(content=text, id=message_id), state_key=None)


async def write_live(
    chat: Chat,
    system: str,
    user: str,
    *,
    max_tokens: int,
    message_id: str,
    stream: AnswerStream,
    part: bool = True,
    documents: bool = False,
) -> str:
    """Let the model write while the reader reads what the stream gives out.

    What may not be seen (links, the instructions) is held back. Where the model breaks off, the whole sentences
    that it had written by then stay, unless a `part` is of no use.

    It is streamed whether or not somebody reads: LangGraph says nowhere which streams were asked for, and a reply that
    breaks off in the middle leaves its whole sentences either way.

    Raises:
        ModelError: It broke off before it had written one.
    """
    # All of it, beside what is shown: claims are looked for in what the model wrote, not in what a filter let by.
    reply: list[str] = []
    try:
        async for piece in chat.stream(system, user, max_tokens=max_tokens, documents=documents):
            reply.append(piece)
            show(message_id, stream.feed(piece))
    except ModelError as error:
        kept = _whole_sentences("".join(reply))
        if not part or not read_answer(kept):
            raise
        note_failure(f"{error.message} What it had written by then is the answer.")
        return kept
    show(message_id, stream.finish())
    return "".join(reply)


def _whole_sentences(text: str) -> str:
    """Return a text without its last sentence, which may have no end."""
    found = spans(text)
    return text[: found[-1][0]] if found else ""

"""The answer as a message: its words in the `messages` stream as the model writes them, and its sources in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from uuid import uuid4

from langchain_core.messages import AIMessageChunk
from langchain_core.messages import content as blocks
from langgraph.graph.message import push_message

from anabranch.agent.nodes.support.state_records import Citation
from anabranch.citations.passage_text import LONGEST
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
    began: Callable[[], object] | None = None,
) -> str:
    """Let the model write while the reader reads what the stream gives out.

    What may not be seen (links, the instructions) is held back. Where the model breaks off, the whole sentences
    that it had written by then stay, unless a `part` is of no use.

    It is streamed whether or not somebody reads: LangGraph says nowhere which streams were asked for, and a reply that
    breaks off in the middle leaves its whole sentences either way. `began` is called when its first words are there.

    Raises:
        ModelError: It broke off before it had written one.
    """
    # All of it, beside what is shown: claims are looked for in what the model wrote, not in what a filter let by.
    reply: list[str] = []
    try:
        async for piece in chat.stream(system, user, max_tokens=max_tokens, documents=documents):
            if began is not None:
                began()
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


def with_sources(answer: str, citations: Sequence[Citation]) -> blocks.TextContentBlock:
    """Return an answer as LangChain's standard block of text: chat pages read the sources from its annotations."""
    annotations: list[blocks.Annotation] = []
    for citation, place in placed(answer, citations):
        # Every later checkpoint has each message once more, and a passage that is shown whole stands in its text.
        found = blocks.Citation(type="citation", title=title_of(citation), cited_text=citation["quote"][:LONGEST])
        # No `extras`: langchain-openai sends them as fields that OpenAI does not know.
        if citation["link"]:
            found["url"] = citation["link"]
        if place is not None:
            found["start_index"], found["end_index"] = place
        annotations.append(found)
    return blocks.TextContentBlock(type="text", text=answer, annotations=annotations)


def placed(answer: str, citations: Sequence[Citation]) -> Iterator[tuple[Citation, tuple[int, int] | None]]:
    """Yield each citation with the characters [start, end) of its marker in the answer; None where it has none."""
    after: dict[int, int] = {}
    for citation in citations:
        number = citation["marker"]
        mark = f"[{number}]"
        # The claims come in the order of the answer; several may share one marker.
        start = answer.find(mark, after.get(number, 0))
        start = answer.find(mark) if start < 0 else start
        after[number] = start + len(mark)
        yield citation, (start, after[number]) if start >= 0 else None


def by_marker(citations: Sequence[Citation]) -> dict[int, Citation]:
    """Return the first citation of each marker, in the order of the markers."""
    found: dict[int, Citation] = {}
    for each in citations:
        found.setdefault(each["marker"], each)
    return dict(sorted(found.items()))


def title_of(citation: Citation) -> str:
    """Return where a quote stands, for people: the document, the section, the page."""
    name, heading = citation["title"] or citation["source"], citation["heading"]
    page = f"p. {citation['page']}" if citation["page"] else ""
    # The path of headings mostly begins with the title.
    return ", ".join(part for part in ("" if heading.startswith(name) else name, heading, page) if part)

"""The sources of an answer: as annotations of its message, by marker, and as a line for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain_core.messages import content as blocks

from anabranch.citations.citation_record import LONGEST
from anabranch.safety.link_removal import make_plain, name_source
from anabranch.types import Citation


def with_sources(answer: str, citations: Sequence[Citation]) -> blocks.TextContentBlock:
    """Return an answer as LangChain's standard block of text: chat pages read the sources from its annotations."""
    annotations: list[blocks.Annotation] = []
    for citation, place in locate_markers(answer, citations):
        # Shortened, because each later checkpoint holds the message again.
        found = blocks.Citation(type="citation", title=title_of(citation), cited_text=citation["quote"][:LONGEST])
        # No `extras`: langchain-openai would send them to OpenAI, which does not know them.
        if citation["link"]:
            found["url"] = citation["link"]
        if place is not None:
            found["start_index"], found["end_index"] = place
        annotations.append(found)
    return blocks.TextContentBlock(type="text", text=answer, annotations=annotations)


def locate_markers(answer: str, citations: Sequence[Citation]) -> Iterator[tuple[Citation, tuple[int, int] | None]]:
    """Yield each citation with the characters [start, end) of its marker in the answer; None without a marker."""
    after: dict[int, int] = {}
    for citation in citations:
        number = citation["marker"]
        mark = f"[{number}]"
        # Claims are in the order of the answer; several may share a marker.
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
    """Return the place of a quote, for people, in plain words: the document, the section, the page."""
    heading = citation["heading"]
    name = make_plain(citation["title"]) or name_source(citation["source"])
    page = f"p. {citation['page']}" if citation["page"] else ""
    # The heading path mostly begins with the title.
    is_repeated = heading.startswith(citation["title"] or citation["source"])
    return ", ".join(filter(None, ("" if is_repeated else name, make_plain(heading), page)))

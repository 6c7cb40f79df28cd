"""Print an answer: its text, its sources, and remarks on how it was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from anabranch.citations.unconfirmed_claims import unconfirmed_lines
from anabranch.cli.output import say
from anabranch.safety.link_removal import make_plain, name_source
from anabranch.synthesis.coverage import wants_whole
from anabranch.text.normalization import clean, squeeze
from anabranch.types import Coverage

NOTHING_MATCHES = (
    "Nothing was found among the documents that match the filter; `anabranch corpus stats` lists all documents."
)
FURTHER = "This was one call over the best passages. To look further, ask again with --effort normal."
MARKER = re.compile(r"\[\d+\]")
PLACE = re.compile(r"\[(\d{1,4})\] ")
BOLD = re.compile(r"\*\*(?=\S)([^*]+)(?<=\S)\*\*")


def print_answer(console: Console, state: Mapping[str, Any], *, sources: bool = True) -> None:
    """Print the answer, its sources and remarks; a composed answer already contains its sources."""
    citations = state.get("citations") or []
    is_composed = state["route"]["name"] == "compose"
    say_marked(console, state["answer"], links={each["marker"]: each.get("link", "") for each in reversed(citations)})
    if sources and citations and not is_composed:
        console.print()
        print_sources(console, citations)
    remarks = list(remarks_on(state))
    if remarks:
        console.print()
    for remark in remarks:
        say(console, remark, style="yellow" if remark.startswith("degraded") else "dim")


def print_sources(console: Console, citations: Sequence[Mapping[str, Any]]) -> bool:
    """Print each source with its quotes, and return whether there was one."""
    for place, quotes, link in source_lines(citations):
        _print_source(console, place, quotes, link)
    return bool(citations)


def say_marked(console: Console, text: str, *, links: Mapping[int, str] | None = None) -> None:
    """Print Markdown with its citation markers highlighted; a terminal also shows bold text and links.

    Args:
        console: Where to.
        text: In Markdown.
        links: The address that a line opens, by the number of the marker that it begins with.
    """
    marked = Text("\n").join(_lines(clean(text), links or {}) if console.is_terminal else [Text(clean(text))])
    marked.highlight_regex(MARKER, "bold cyan")
    console.print(marked, soft_wrap=not console.is_terminal)


def _lines(text: str, links: Mapping[int, str]) -> Iterator[Text]:
    """Yield the lines of an answer as a terminal shows them; blocks of code stay unchanged."""
    in_code = False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        place = None if in_code else PLACE.match(line)
        link = links.get(int(place[1]), "") if place else ""
        styled = Text(style=f"link {link}" if link else "")
        for at, part in enumerate([line] if in_code else BOLD.split(line)):
            styled.append(part, style="bold" if at % 2 else None)
        yield styled


def source_lines(citations: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[str], str]]:
    """Yield, per marker and place, the place, its quotes, and the address of the first one, empty without any."""
    # One passage may run over several pages and sections.
    by_place: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
    for citation in citations:
        by_place.setdefault((citation["marker"], place_of(citation)), []).append(citation)
    for (marker, place), found in sorted(by_place.items(), key=lambda item: item[0][0]):
        quotes = dict.fromkeys(make_plain(citation["quote"]) for citation in found)
        shortened = [f"“{quote}”" for quote in quotes if quote]
        yield f"[{marker}] {place}", shortened, found[0].get("link", "")


def place_of(citation: Mapping[str, Any]) -> str:
    """Return source, page and heading on one line."""
    page = f"p. {citation['page']}" if citation["page"] is not None else ""
    return ", ".join(filter(None, (name_source(citation["source"]), page, make_plain(citation["heading"]))))


def remarks_on(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield remarks on how the answer was made."""
    if (state.get("turn") or {}).get("filters") and not state.get("candidates"):
        yield NOTHING_MATCHES
    if narrowed := state.get("inferred_filter"):
        yield f"Searched only: {make_plain(narrowed)} (--no-inferred-filter searches all)."
    yield from unconfirmed_lines(state.get("status", ""), state.get("unconfirmed") or [])
    # Only `auto` records its model here: a user who named one knows it.
    counts: Mapping[str, Any] = next(
        (step["counts"] for step in state.get("trace") or [] if step["node"] == "begin"), {}
    )
    if "model" in counts:
        yield f"Written by a local model: {counts['model']}."
    checked = (state.get("verification") or {}).get("checked", "")
    # A composed answer says in its first line that no model wrote it.
    if checked and state["route"]["name"] != "compose":
        yield f"Checked: {checked}."
    yield from _degraded_lines(state.get("degraded") or [])
    if counts.get("effort") == "quick" and not _reads_more(state.get("coverage")):
        yield FURTHER


def _degraded_lines(degraded: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each step and reason; windows of one step with one reason share a line."""
    steps: dict[tuple[str, str], list[str]] = {}
    for item in degraded:
        kind, _, number = item["step"].partition(":")
        # Other steps have a name after the colon, such as that of a retriever.
        step = kind if number.isdecimal() else item["step"]
        steps.setdefault((step, squeeze(item["reason"])), []).append(item["step"])
    for (step, reason), joined in steps.items():
        windows = len(set(joined))
        yield f"degraded: {joined[0] if windows == 1 else f'{step} ({windows:,} windows)'}: {reason}"


def _reads_more(coverage: Coverage | None) -> bool:
    """Tell whether more than one call over the best passages was asked for."""
    return coverage is not None and (wants_whole(coverage) or coverage["rows"])


def _print_source(console: Console, place: str, quotes: Sequence[str], link: str) -> None:
    # The place is a link in a terminal; the long address itself is in `--json`.
    console.print(Text(place, style=f"bold link {link}" if link else "bold"), soft_wrap=not console.is_terminal)
    for quote in quotes:
        if console.is_terminal:
            console.print(Padding(Text(quote, style="italic dim"), (0, 0, 0, 4)))
        else:
            console.print(f"    {quote}", soft_wrap=True)

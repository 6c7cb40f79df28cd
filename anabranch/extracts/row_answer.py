"""Writes rows as an answer in Markdown: how many there are, and a table of the first ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.citations.answer_sources import by_marker
from anabranch.extracts.passage_answer import place_line
from anabranch.parsing.answer_reply import MARKER
from anabranch.safety.link_removal import make_plain

if TYPE_CHECKING:
    from anabranch.parsing.row_list import ListedHit
    from anabranch.types import Citation

MOST_ROWS = 50
"""Rows in the text of an answer; all of them are among the citations."""

MOST_UNCONFIRMED = 10
MOST_CELL = 160


def write_rows(citations: Sequence[Citation], unconfirmed: Sequence[ListedHit], phrases: Mapping[str, str]) -> str:
    """Return the counts, a table of the first rows, and the rows that are not confirmed.

    Args:
        citations: One for each place; the places of a row share its marker.
        unconfirmed: Hits without words in a passage.
        phrases: Those of the reader's language.
    """
    rows = by_marker(citations)
    documents = len({each["source"] for each in citations})
    lines = [phrases["rows"].format(rows=f"{len(rows):,}", places=f"{len(citations):,}", documents=f"{documents:,}")]
    if rows:
        lines.append("\n".join(_table(rows, phrases)))
    if len(rows) > MOST_ROWS:
        lines.append(f"... {len(rows) - MOST_ROWS:,}")
    if unconfirmed:
        names = "; ".join(_cell(hit.item) for hit in unconfirmed[:MOST_UNCONFIRMED])
        more = f"; ... {len(unconfirmed) - MOST_UNCONFIRMED:,}" if len(unconfirmed) > MOST_UNCONFIRMED else ""
        lines.append(f"{phrases['unconfirmed_rows']} ({len(unconfirmed):,}): {names}{more}")
    return "\n\n".join(lines)


def _table(rows: Mapping[int, Citation], phrases: Mapping[str, str]) -> Iterator[str]:
    yield "| | " + " | ".join(phrases["row_heads"].split(" | ")) + " |"
    yield "|---|---|---|---|"
    for marker, row in list(rows.items())[:MOST_ROWS]:
        place = place_line(row["source"], row["page"], "")
        yield f"| [{marker}] | {_cell(row['claim'])} | “{_cell(row['quote'])}” | {_cell(place)} |"


def _cell(text: str) -> str:
    """Return the text of a cell: one line without links, markers and bars."""
    return make_plain(MARKER.sub("", text), MOST_CELL).replace("|", "/")

"""Make the answer of the rows that the model listed: checked, joined, counted and written by the program."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from langgraph.types import Overwrite

from anabranch.agent.nodes.citation_places import place_records
from anabranch.agent.nodes.cite import MAX_TEXT, MOST_LISTED, count_grades, make_check
from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.citations.citation_record import LONGEST, piece_of
from anabranch.citations.hit_rows import HitRows, NumberedPassage, collect_rows
from anabranch.extracts.row_answer import write_rows
from anabranch.parsing.row_list import read_rows
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for
from anabranch.types import NO_DRAFT, AnswerStatus, UnconfirmedClaim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anabranch.types import Chunk, Excerpt

CHECKED = "quoted: the words of each row stand in its passage; whether they show a hit was not checked"


async def cite_rows(state: State, turn: Turn) -> Update:
    """Answer with a table of the rows whose words stand in a passage, each with its place; list the others apart."""
    excerpts = {excerpt["number"]: excerpt for window in state["windows"] for excerpt in window}
    chunks = await turn.chunks(list(dict.fromkeys(excerpt["id"] for excerpt in excerpts.values())))
    found = await asyncio.to_thread(_collect, state, excerpts, chunks)
    citations = await place_records(turn, found.records, excerpts, chunks, {})
    unconfirmed = [
        UnconfirmedClaim(grade="not_confirmed", text=hit.item[:MAX_TEXT], reason=_NOWHERE, nearest=hit.words[:LONGEST])
        for hit in found.unconfirmed[:MOST_LISTED]
    ]
    if found.beyond:
        turn.degraded("rows", f"{found.beyond:,} more places were found than are kept")
    grades = [*(each.grade for each in found.records), *("not_confirmed" for _ in found.unconfirmed)]
    status = _find_status(found, is_strict=turn.settings.strict)
    check = make_check(status, grades, CHECKED)
    turn.count(rows=found.rows, places=len(found.records), **count_grades(check))
    about = state["turn"]["question"]
    words = phrases_for(about, language_of(" ".join(each["quote"] for each in citations[:10])))
    answer = write_rows(citations, found.unconfirmed, words) if status in ("answered", "not_confirmed") else ""
    return {
        "answer": answer,
        "draft": {**NO_DRAFT, "window": len(state["windows"])},
        # The replies have been counted: later checkpoints need not keep them.
        "partials": Overwrite([]),
        "claims": [*citations, *unconfirmed],
        "check": check,
    }


_NOWHERE = "the words of this row stand in no passage of its window"


def _collect(state: State, excerpts: Mapping[int, Excerpt], chunks: Mapping[str, Chunk]) -> HitRows:
    passages = {
        number: NumberedPassage(excerpt["id"], piece_of(chunks[excerpt["id"]], excerpt))
        for number, excerpt in excerpts.items()
        if excerpt["id"] in chunks
    }
    parts = sorted(state["partials"], key=lambda part: part["index"])
    windows = (
        (read_rows(part["draft"]["answer"]), [excerpt["number"] for excerpt in state["windows"][part["index"]]])
        for part in parts
        if part["index"] < len(state["windows"])
    )
    return collect_rows(windows, passages)


def _find_status(found: HitRows, *, is_strict: bool) -> AnswerStatus:
    if found.records:
        return "answered"
    return "not_confirmed" if found.unconfirmed and not is_strict else "not_found"

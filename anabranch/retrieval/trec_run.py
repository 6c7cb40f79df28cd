"""TREC run files, which other programs use to score a search.

A run file has lines of `qid Q0 docid rank score tag`, one ranked document each. Evaluators disagree on what orders a
run: trec_eval and pytrec_eval ignore the rank and sort by score, held in 32 bits, ties by document id. So a run is
written with scores that still fall strictly after rounding to 32 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

import numpy as np

from anabranch.errors import QuestionError

TAG = "anabranch"

_SPACE = re.compile(r"\s")
_UNSAFE = re.compile(r"[\s%]")


def best_per_document(ranked: Iterable[tuple[str, float]], depth: int) -> list[tuple[str, float]]:
    """Return one entry per document, best first: a document counts as much as its best passage."""
    best: dict[str, float] = {}
    for document, score in ranked:
        best.setdefault(document, score)
        if len(best) == depth:
            break
    return list(best.items())


def run_lines(query: str, ranked: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Yield the lines of one query, ranks from 1, scores strictly falling in 32-bit precision.

    White space would shift the columns: in a document id it is percent-encoded (`my notes.md` becomes `my%20notes.md`).

    Raises:
        QuestionError: The query id is empty or holds white space; no reader could match it.
    """
    check_query_id(query)
    previous = np.float32(np.inf)
    for rank, (document, given) in enumerate(ranked, start=1):
        # trec_eval uses 32 bits: scores that differ only in 64 would tie and be ordered by id.
        score = min(np.float32(given), np.nextafter(previous, np.float32(-np.inf), dtype=np.float32))
        previous = score
        yield f"{query} Q0 {document_id(document)} {rank} {np.format_float_positional(score, unique=True)} {TAG}"


def check_query_id(query: str) -> None:
    """Refuse a query id that a run file cannot hold."""
    if not query or _SPACE.search(query):
        msg = f"The query id {query!r} is empty or holds white space, which a TREC run cannot hold."
        raise QuestionError(msg, hint="Rename it in the queries and in the judgements.")


def document_id(document: str) -> str:
    """Return a document id for a run file, with white space encoded."""
    return _UNSAFE.sub(lambda found: quote(found[0]), document) if _SPACE.search(document) else document

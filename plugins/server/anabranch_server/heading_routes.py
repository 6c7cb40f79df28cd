"""What one may ask about, by the headings of the documents: of the whole corpus, and near a passage.

Everything stays within the caller's scope: what is counted and named is what they may read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from anabranch.agent.graph.settings_precedence import operator_settings
from anabranch.chunking.table_captions import is_table
from anabranch.readers.document import Chunk
from anabranch.store.protocol import Outlines
from anabranch_server.document_routes import MOST_LISTED, NO_STORE, PRIVATE, View, find_passage

SUGGESTED = 3
TRIED = 9
"""Documents that are looked at to name a heading of some of them."""

MOST_LEAVES = 40
"""Leaves of such a document that are looked at."""

REACH = 30
"""Leaves before and after a passage whose headings are near it."""

LONGEST = 80
"""Characters of a heading that fits into a question."""

router = APIRouter(tags=["documents"])


@router.get("/overview")
async def overview(view: View) -> JSONResponse:
    """Count what the caller may read, and name the model that writes and a heading of a few documents.

    Returns:
        `model`, null where there is none or it has no name; `documents` and `passages`, with `more` where there are
        more than `MOST_LISTED` documents, which alone are counted; `headings`, at most `SUGGESTED`, each of another
        document. A store that lists no documents has no counts and no headings.
    """
    corpus = view.corpus
    model = operator_settings(view.caller.user).model
    named_model = {"model": model if isinstance(model, str) else None}
    if not isinstance(corpus, Outlines):
        return JSONResponse({**named_model, "headings": []}, headers=NO_STORE)
    found = await corpus.outlines(view.scope, MOST_LISTED + 1)
    counted = found[:MOST_LISTED]
    # From all over the list: documents beside each other are often of one kind.
    ids = [each.doc_id for each in counted[:: max(len(counted) // TRIED, 1)][:TRIED]]
    leaves = await corpus.leaves(ids, view.scope, MOST_LEAVES)
    chunks = await corpus.chunks([each for some in leaves.values() for each in some], view.scope)
    tried = [[chunks[each] for each in some if each in chunks] for some in leaves.values()]
    # Above a table there is often no more than the name of its sheet.
    named = _most_told([each for each in some if not _is_tabular(each)] for some in tried) or _most_told(tried)
    return JSONResponse(
        {
            **named_model,
            "documents": len(counted),
            "passages": sum(each.leaves for each in counted),
            "more": len(found) > MOST_LISTED,
            "headings": named[:: max(len(named) // SUGGESTED, 1)][:SUGGESTED],
        },
        headers=NO_STORE,
    )


@router.get("/passages/{chunk_id}/headings")
async def headings_near(chunk_id: str, view: View) -> JSONResponse:
    """Name at most `SUGGESTED` headings around a passage in its document, the nearest first, without its own."""
    corpus, chunk = view.corpus, await find_passage(view, chunk_id)
    if not isinstance(corpus, Outlines):
        return JSONResponse([], headers=PRIVATE)
    ids = (await corpus.leaves([chunk.doc_id], view.scope, MOST_LISTED)).get(chunk.doc_id, [])
    leaf = chunk_id
    while leaf not in ids and (below := await corpus.children([leaf], view.scope)):
        leaf = below[leaf][0]
    if leaf not in ids:
        return JSONResponse([], headers=PRIVATE)
    at = ids.index(leaf)
    near = sorted(range(max(at - REACH, 0), min(at + REACH + 1, len(ids))), key=lambda each: abs(each - at))
    chunks = await corpus.chunks([ids[each] for each in near], view.scope)
    own = set(_names([chunk, *(chunks[leaf],) * (leaf in chunks)]))
    names = dict.fromkeys(_names(chunks[ids[each]] for each in near if ids[each] in chunks))
    return JSONResponse(list(islice((name for name in names if name not in own), SUGGESTED)), headers=PRIVATE)


def _most_told(documents: Iterable[Iterable[Chunk]]) -> list[str]:
    """Return the heading of each document with the most text below it: a menu or a title page has little."""
    named = [list(_names(leaves)) for leaves in documents]
    return list(dict.fromkeys(max(names, key=names.count) for names in named if names))


def _is_tabular(leaf: Chunk) -> bool:
    return 2 * sum(len(line) for line in leaf.text.splitlines() if is_table(line)) > len(leaf.text)


def _names(leaves: Iterable[Chunk]) -> Iterator[str]:
    """Yield the last part of each heading, unless it is the title, or too long or too empty to ask about."""
    for leaf in leaves:
        name = " ".join(leaf.heading.rpartition(" > ")[2].split())
        if name != leaf.title and len(name) <= LONGEST and any(map(str.isalpha, name)):
            yield name

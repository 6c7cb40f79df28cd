"""What an agent may do with documents: list them, find words in them, read them. Every result has a bound and a cursor.

The functions take a corpus and a scope, so they show what a question with the same access tags and filters would be
answered from, and nothing else. A result has a bound in tokens (`result_size`); `cursor` asks for the rest of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from anabranch.errors import DocumentNotFoundError, QuestionError, SettingsError
from anabranch.retrieval.document_scan import PAGE, ScanPosition, scan
from anabranch.retrieval.result_cursor import CHANGED, Paging, resume
from anabranch.retrieval.result_size import fit
from anabranch.retrieval.tool_result import (
    LINE,
    DocumentList,
    FoundPassages,
    ReadPassages,
    list_entry,
    show_passage,
)
from anabranch.retrieval.wildcards import Wildcards
from anabranch.safety.prompt_envelope import DATA
from anabranch.store.filters import parse_filters
from anabranch.store.protocol import CorpusReader, Original, Originals, Outline, Outlines, Scope
from anabranch.text.normalization import clean
from anabranch.types import Chunk

MOST_DOCUMENTS = 10_000
"""Most documents that are listed or looked through; a filter narrows a larger corpus."""

MOST_NUMBERED = 5_000
"""Passages of a document, from its beginning, whose numbers a search tells."""

MOST_PASSAGES = 10**6
"""Greatest number of a passage that can be asked for."""

UNMATCHED = "Nothing was found under the filters. A field that no document has matches nothing: look at its name."

MAX_NAME = 1_000
"""Most characters of what names a document."""


def narrow(scope: Scope, filters: Mapping[str, Any] | None) -> Scope:
    """Return a scope with further filters; they never widen it.

    Raises:
        SettingsError: The filters are malformed.
    """
    if not filters:
        return scope
    parse_filters(filters)
    return replace(scope, filters={"and": [scope.filters, filters]} if scope.filters else filters)


async def list_documents(corpus: CorpusReader, scope: Scope, cursor: str = "") -> DocumentList:
    """List the documents of a scope by source, at most `MOST_DOCUMENTS` in all.

    Raises:
        QuestionError: The cursor is of another call.
        SettingsError: The filters are malformed, or the store does not list its documents.
    """
    store, paging = _listing(corpus), Paging("list_documents", [scope.filters], corpus)
    at = paging.read(cursor)
    found = await store.outlines(scope, min(at["position"] + PAGE + 1, MOST_DOCUMENTS))
    last, is_anew = resume([each.doc_id for each in found], at["position"] - 1, at)
    begin = last + 1
    rows = found[begin : begin + PAGE]
    files = await _originals(corpus, [each.doc_id for each in rows], scope)
    items = [list_entry(each, files.get(each.doc_id)) for each in rows]
    shown, _ = await fit(items, corpus.embedder)
    end = begin + len(shown)
    has_more = end < len(found)
    note = paging.note(at, is_anew=is_anew)
    if not has_more and len(found) == MOST_DOCUMENTS:
        note = f"Only the first {MOST_DOCUMENTS:,} documents are listed: give a filter to see others."
    elif not found and scope.filters:
        note = UNMATCHED
    rest = paging.write(end, found[end - 1].doc_id) if has_more else ""
    return DocumentList(items=shown, cursor=rest, note=note)


async def read(
    corpus: CorpusReader, scope: Scope, document: str, first: int = 1, last: int | None = None, cursor: str = ""
) -> ReadPassages:
    """Return the passages `first` to `last` of a document, counted from 1; the last one is that of the document.

    Raises:
        DocumentNotFoundError: There is no such document in the scope.
        QuestionError: The numbers are out of bounds, or the cursor is of another call.
    """
    if not 1 <= first <= (MOST_PASSAGES if last is None else min(last, MOST_PASSAGES)):
        msg = f"There are no passages from {first} to {'the end' if last is None else last}."
        raise QuestionError(msg, hint="Passages count from 1, and `to` is not less than `from`.")
    store, paging = _listing(corpus), Paging("read", [document, first, last], corpus)
    at = paging.read(cursor)
    found = await _find_document(store, scope, document)
    if first > found.leaves:
        msg = f"The document has {found.leaves:,} passages, and none with the number {first:,}."
        raise QuestionError(msg, hint="Begin with a smaller number.")
    end = min(found.leaves, last or found.leaves)
    begin = max(at["position"], first - 1)
    ids = (await store.leaves([found.doc_id], scope, min(begin + PAGE, end))).get(found.doc_id, [])
    place, is_anew = resume(ids, begin - 1, at)
    begin = max(place + 1, first - 1)
    chunks = await corpus.chunks(ids[begin:], scope)
    entries = [
        (number, show_passage(chunks[each], number))
        for number, each in enumerate(ids[begin:], begin + 1)
        if each in chunks
    ]
    offset = 0 if is_anew else at["offset"]
    shown, rest = await fit([entry for _, entry in entries], corpus.embedder, offset)
    after = entries[len(shown) - 1][0] if shown else end
    note = paging.note(at, is_anew=is_anew)
    if len(entries) < len(ids) - begin or not entries:
        note = note or CHANGED
    following = ""
    if rest:
        # The last one is cut: the next part begins inside it.
        following = paging.write(after - 1, ids[after - 2] if after > 1 else "", rest)
    elif after < end:
        following = paging.write(after, ids[after - 1])
    return ReadPassages(notice=DATA, items=shown, passages=found.leaves, cursor=following, note=note)


async def grep(corpus: CorpusReader, scope: Scope, pattern: str, document: str = "", cursor: str = "") -> FoundPassages:
    """Return the passages with the words of a pattern, in the order of documents, each with its first match.

    Case and runs of white space do not count, and `*` stands for any text within a passage. The time grows with the
    text alone, whatever the pattern is. One call looks through at most `MOST_SCANNED` passages.

    Raises:
        DocumentNotFoundError: There is no such document in the scope.
        QuestionError: The pattern is empty or too long, or the cursor is of another call.
    """
    words = Wildcards.parse(pattern)
    store, paging = _listing(corpus), Paging("grep", [pattern, document, scope.filters], corpus)
    at, note = paging.read(cursor), ""
    if document:
        documents = [await _find_document(store, scope, document)]
    else:
        documents = await store.outlines(scope, MOST_DOCUMENTS)
        if len(documents) == MOST_DOCUMENTS:
            note = f"Only the first {MOST_DOCUMENTS:,} documents are looked through: narrow them by filters."
    now, is_anew = resume([each.doc_id for each in documents], at["position"], at)
    begin = ScanPosition(0, 0) if is_anew else ScanPosition(now, at["offset"])
    if begin.document < len(documents):
        # A cursor that somebody made up asks for no more leaves than there are.
        begin.leaf = min(begin.leaf, documents[begin.document].leaves)
    found, place = await scan(store, scope, words, documents, begin)
    rest = ""
    if place.document < len(documents):
        rest = paging.write(place.document, documents[place.document].doc_id, place.leaf)
    if not documents and scope.filters:
        note = UNMATCHED
    elif not found and rest:
        note = "Nothing so far: go on with the cursor."
    elif not found and words.has_other_signs:
        note = "Nothing was found. Only * has a meaning in a pattern; other signs are looked for as they stand."
    return FoundPassages(notice=DATA, items=found, cursor=rest, note=paging.note(at, is_anew=is_anew) or note)


async def show_found(
    corpus: CorpusReader, scope: Scope, query: str, passages: Sequence[Chunk], limit: int, cursor: str = ""
) -> FoundPassages:
    """Return a part of what a search found, at most `limit` passages of it, best first.

    Args:
        corpus: Counts the tokens, and numbers the passages.
        scope: The caller's.
        query: What was searched for; a cursor is for this query alone.
        passages: All that was found, in order.
        limit: Most passages of this part.
        cursor: Where it begins.

    Raises:
        QuestionError: The cursor is of another call.
    """
    paging = Paging("search", [query, scope.filters], corpus)
    at = paging.read(cursor)
    ids = [each.chunk_id for each in passages]
    last, is_anew = resume(ids, at["position"] - 1, at)
    begin = last + 1
    rows = passages[begin : begin + limit]
    numbers = await _numbers(corpus, scope, rows)
    entries = [show_passage(each, numbers.get(each.chunk_id)) for each in rows]
    shown, cut = await fit(entries, corpus.embedder, 0 if is_anew else at["offset"])
    end = begin + len(shown) - bool(cut)
    has_more = end < len(passages)
    rest = paging.write(end, ids[end - 1] if end else "", cut) if has_more else ""
    note = UNMATCHED if not passages and scope.filters else paging.note(at, is_anew=is_anew)
    return FoundPassages(notice=DATA, items=shown, cursor=rest, note=note)


async def locate_quotes(
    corpus: CorpusReader, scope: Scope, spots: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], tuple[str, int | None]]:
    """Return the document of each quote, and the number of the passage of `read` that it begins in, None if not known.

    An answer may quote a larger passage that stands for several of those.

    Args:
        corpus: Has the passages.
        scope: The caller's; what is out of it is absent.
        spots: The id of the quoted passage, and the character of the document where the quote begins.
    """
    quoted = await corpus.chunks(list(dict.fromkeys(chunk_id for chunk_id, _ in spots)), scope)
    under = {chunk_id: [chunk_id] for chunk_id in quoted}
    for _ in range(2):
        known = await corpus.children([each for ids in under.values() for each in ids], scope)
        under = {
            chunk_id: [leaf for each in ids for leaf in known.get(each, [each])] for chunk_id, ids in under.items()
        }
    leaves = await corpus.chunks([each for ids in under.values() for each in ids], scope)
    numbers = await _numbers(corpus, scope, list(leaves.values()))
    places = {}
    for chunk_id, start in spots:
        if chunk_id in quoted:
            begun = [each for each in under[chunk_id] if each in leaves and leaves[each].start <= start]
            places[chunk_id, start] = quoted[chunk_id].doc_id, numbers.get(begun[-1]) if begun else None
    return places


# Finding and reading what is listed.


def _listing(corpus: CorpusReader) -> Outlines:
    if isinstance(corpus, Outlines):
        return corpus
    raise SettingsError("This kind of store does not list its documents.", hint="Search it instead.")


async def _find_document(store: Outlines, scope: Scope, name: str) -> Outline:
    """Return the document of an id, a source or a title; what the caller may not read does not exist."""
    name = name.strip() if isinstance(name, str) else ""
    if name and len(name) <= MAX_NAME and clean(name) == name:
        for field in ("doc_id", "source", "title"):
            found = await store.outlines(narrow(scope, {field: name}), 2)
            if len(found) == 1:
                return found[0]
            if found:
                msg = f"There are several documents {name[:LINE]!r}."
                raise QuestionError(msg, hint="Name one by its id, as `list_documents` shows it.")
    raise DocumentNotFoundError(str(name)[:LINE])


async def _originals(corpus: CorpusReader, ids: Sequence[str], scope: Scope) -> dict[str, Original]:
    return await corpus.originals(ids, scope) if isinstance(corpus, Originals) else {}


async def _numbers(corpus: CorpusReader, scope: Scope, passages: Sequence[Chunk]) -> dict[str, int]:
    """Return the numbers of passages in their documents, as far as they are known."""
    if not isinstance(corpus, Outlines) or not passages:
        return {}
    owners = list(dict.fromkeys(each.doc_id for each in passages))
    leaves = await corpus.leaves(owners, scope, MOST_NUMBERED)
    return await asyncio.to_thread(_number, leaves, {each.chunk_id for each in passages})


def _number(leaves: Mapping[str, Sequence[str]], wanted: Collection[str]) -> dict[str, int]:
    return {each: number for listed in leaves.values() for number, each in enumerate(listed, 1) if each in wanted}

"""The evidence of a collection, found in its corpus: the spans that retrieval should bring back for each query."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from anabranch.errors import CollectionError
from anabranch.evaluation.collection import QUERIES
from anabranch.evaluation.collection_corpus import Prepared
from anabranch.evaluation.query_set import numbered
from anabranch.evaluation.references import SHAPE, Reference, read_references
from anabranch.evaluation.span_location import located
from anabranch.evaluation.spans import Places, Span
from anabranch.evaluation.text_match import Texts
from anabranch.models.token_count import Tokens
from anabranch.text.normalization import clean


@dataclass(frozen=True, slots=True)
class Evidence:
    """What retrieval should bring back.

    Attributes:
        spans: Of each query that has evidence.
        texts: Document that each of them is about, by its name: that of its first piece of evidence.
        places: Of the tokens that spans are measured in.
    """

    spans: Mapping[str, tuple[Span, ...]]
    texts: Mapping[str, str]
    places: Places


def with_spans(prepared: Prepared, tokens: Tokens) -> tuple[Prepared, Evidence]:
    """Find the evidence of a collection in its corpus.

    Args:
        prepared: The collection and its corpus.
        tokens: What counts the tokens: the embedder of the corpus.

    Returns:
        The collection with only those queries whose evidence was found, what was not in its remarks; and the evidence.

    Raises:
        CollectionError: Its queries have no references, or none of them was found.
    """
    collection, texts = prepared.collection, Texts(prepared.corpus, tokens)
    named = read_references(collection.folder / QUERIES)
    wanted = {query: named[query] for query in collection.queries if query in named}
    if not wanted:
        msg = f"The queries of {collection.folder} have no 'references', so there are no spans to measure by."
        raise CollectionError(msg, hint=f"A line with evidence is an object like {SHAPE}.")
    found, moved = _found(wanted, texts, collection.corpus)
    spans = {query: _spans(rows, found) for query, rows in wanted.items()}
    spans = {query: each for query, each in spans.items() if each}
    if not spans:
        msg = f"None of the references in {collection.folder / QUERIES} is in the documents."
        raise CollectionError(msg, hint="Their 'corpus_id' is the id of a document, 'content' its very words.")
    remarks = _remarks(wanted, found, moved, left_out=len(collection.queries) - len(spans))
    kept = {query: collection.queries[query] for query in spans}
    qrels = {query: collection.qrels[query] for query in spans}
    narrowed = replace(collection, queries=kept, qrels=qrels, remarks=(*collection.remarks, *remarks))
    about = {query: wanted[query][0].document for query in spans}
    return replace(prepared, collection=narrowed), Evidence(spans, about, texts)


def _spans(references: tuple[Reference, ...], found: Mapping[Reference, Span]) -> tuple[Span, ...]:
    return tuple(found[one] for one in references if one in found)


def _found(
    wanted: Mapping[str, tuple[Reference, ...]], texts: Texts, corpus: Path | None
) -> tuple[dict[Reference, Span], int]:
    """Return where references are, and how many of them are not where their numbers say."""
    by_document: defaultdict[str, list[Reference]] = defaultdict(list)
    for one in dict.fromkeys(one for rows in wanted.values() for one in rows):
        by_document[one.document].append(one)
    originals = _originals(corpus, frozenset(by_document)) if corpus is not None else {}
    found: dict[Reference, Span] = {}
    moved = 0
    for document, references in by_document.items():
        for doc_id in texts.ids(document):
            text = texts.text(doc_id)
            for one, place, off in located(references, text, originals.get(document, text)):
                if place is not None and one not in found:
                    found[one] = Span(doc_id, *place)
                    moved += off > 0
    return found, moved


def _originals(corpus: Path, documents: frozenset[str]) -> dict[str, str]:
    """Return the texts of some documents as the file has them; a line that cannot be read is ingest's to report."""
    found: dict[str, str] = {}
    for number, line in numbered(corpus):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and isinstance(row.get("text"), str):
            key = clean(str(row.get("id", row.get("_id", number)))).strip()
            if key in documents:
                found[key] = row["text"]
    return found


def _remarks(
    wanted: Mapping[str, tuple[Reference, ...]], found: Mapping[Reference, Span], moved: int, *, left_out: int
) -> Iterator[str]:
    every = [one for rows in wanted.values() for one in rows]
    lost = [one for one in every if one not in found]
    if lost:
        shown = " ".join((lost[0].content or f"{lost[0].start} to {lost[0].end}").split())[:60]
        yield f"references that are not in their documents, and do not count: {len(lost)} of {len(every)}, as {shown!r}"
    if moved:
        yield f"references that are not where their numbers say, and were taken where their words are: {moved}"
    if left_out:
        yield f"queries without evidence in a document, left out: {left_out}"

"""The evidence of a collection, found in its corpus: the spans that retrieval should bring back for each query.

Reading drops blank lines, invisible characters and the white space at the ends of paragraphs, so offsets of the source
are wrong by a little more with every paragraph. Letters stay: a place is known by how many of them lie before it.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anabranch.chunking.leaf_unit import WORDPIECE, unit_counter
from anabranch.errors import CollectionError
from anabranch.text.jsonl_rows import read_lines
from anabranch.text.normalization import clean
from anabranch_evaluation.collection import QUERIES, Collection
from anabranch_evaluation.evidence_patterns import whole_documents
from anabranch_evaluation.references import SHAPE, Reference, read_references
from anabranch_evaluation.token_metrics import TextSpan


@dataclass(frozen=True, slots=True)
class SpanEvidence:
    """What retrieval should bring back.

    Attributes:
        spans: Of each query that has evidence.
        texts: Document that each of them is about, by its name: that of its first piece of evidence.
        places: The documents, which know where tokens and leaves are.
    """

    spans: Mapping[str, tuple[TextSpan, ...]]
    texts: Mapping[str, str]
    places: Texts


def with_spans(collection: Collection, corpus: Path) -> tuple[Collection, SpanEvidence]:
    """Find the evidence of a collection in its corpus.

    Returns:
        The collection with only those queries whose evidence was found, what was not in its remarks, and the leaves
        that hold some of the evidence as what is relevant; and the evidence.

    Raises:
        CollectionError: Its queries have no references, or none of them was found.
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    texts = Texts(corpus)
    named = read_references(collection.folder / QUERIES)
    wanted = {query: named[query] for query in collection.queries if query in named}
    if not wanted:
        msg = f"The queries of {collection.folder} have no 'references', so there are no spans to measure by."
        raise CollectionError(msg, hint=f"A line with evidence is an object like {SHAPE}.")
    found, moved = _found(wanted, texts, collection.corpus)
    spans = {query: tuple(found[one] for one in rows if one in found) for query, rows in wanted.items()}
    spans = {query: each for query, each in spans.items() if each}
    if not spans:
        msg = f"None of the references in {collection.folder / QUERIES} is in the documents."
        raise CollectionError(msg, hint="Their 'corpus_id' is the id of a document, 'content' its very words.")
    remarks = _remarks(wanted, found, moved, left_out=len(collection.queries) - len(spans))
    kept = {query: collection.queries[query] for query in spans}
    qrels = {query: {leaf: 1 for span in each for leaf in texts.leaves_in(span)} for query, each in spans.items()}
    narrowed = replace(collection, queries=kept, qrels=qrels, remarks=(*collection.remarks, *remarks))
    about = {query: wanted[query][0].document for query in spans}
    return narrowed, SpanEvidence(spans, about, texts)


def _found(
    wanted: Mapping[str, tuple[Reference, ...]], texts: Texts, corpus: Path | None
) -> tuple[dict[Reference, TextSpan], int]:
    """Return where references are, and how many of them are not where their numbers say."""
    by_document: defaultdict[str, list[Reference]] = defaultdict(list)
    for one in dict.fromkeys(one for rows in wanted.values() for one in rows):
        by_document[one.document].append(one)
    originals = _originals(corpus, frozenset(by_document)) if corpus is not None else {}
    found: dict[Reference, TextSpan] = {}
    moved = 0
    for document, references in by_document.items():
        # Two documents may have one name; the words say which of them is meant.
        for doc_id in texts.ids(document):
            text = texts.text(doc_id)
            for one, place, off in located(references, text, originals.get(document, text)):
                if place is not None and one not in found:
                    found[one] = TextSpan(doc_id, *place)
                    moved += off > 0
    return found, moved


def _originals(corpus: Path, documents: frozenset[str]) -> dict[str, str]:
    """Return the texts of some documents as the file has them; a line that cannot be read is ingest's to report."""
    found: dict[str, str] = {}
    for number, line in read_lines(corpus):
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
    wanted: Mapping[str, tuple[Reference, ...]], found: Mapping[Reference, TextSpan], moved: int, *, left_out: int
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


class Letters:
    """A text without its white space, and where each of its characters stands."""

    def __init__(self, text: str) -> None:
        """Take a text as a corpus holds it, which is clean."""
        self._places = [place for place, letter in enumerate(text) if not letter.isspace()]
        self._text = squashed(text)

    def nearest(self, words: str, expected: int) -> tuple[int, int, int] | None:
        """Return where words stand, as characters [start, end) of the text, and how many letters off that is.

        Args:
            words: What to look for; white space does not count.
            expected: How many letters lie before it, as far as is known: of several places the nearest is taken.
        """
        needle = squashed(words)
        if not needle:
            return None
        # On both sides: a phrase that is repeated may lie before the place as well as behind it.
        after = self._text.find(needle, max(expected, 0))
        before = self._text.rfind(needle, 0, max(expected, 0) + len(needle) - 1)
        places = [place for place in (before, after) if place >= 0]
        if not places:
            return None
        place = min(places, key=lambda place: (abs(place - expected), place))
        last = self._places[place + len(needle) - 1]
        return self._places[place], last + 1, abs(place - expected)


def squashed(text: str) -> str:
    """Return the letters of a text, and everything else in it that is no white space."""
    return "".join(clean(text).split())


def letters_before(text: str, places: Iterable[int]) -> dict[int, int]:
    """Return how many letters lie before each place of a text as it was before ingest, in one pass over it."""
    counted: dict[int, int] = {}
    before = previous = 0
    for place in sorted(set(places)):
        before += len(squashed(text[previous:place]))
        counted[place], previous = before, place
    return counted


def located(
    references: Sequence[Reference], text: str, original: str
) -> list[tuple[Reference, tuple[int, int] | None, int]]:
    """Find references of one document.

    Args:
        references: Of that document.
        text: Of the document, as the corpus holds it.
        original: As it was before ingest, which the references' places are meant in.

    Returns:
        For each reference its characters [start, end) in `text`, None where its words are not there, and how many
        letters away from where it should be they were found.
    """
    letters = Letters(text)
    before = letters_before(original, [one.start for one in references if one.start is not None])
    found: list[tuple[Reference, tuple[int, int] | None, int]] = []
    for one in references:
        words = one.content or original[one.start : one.end]
        place = letters.nearest(words, before[one.start] if one.start is not None else 0)
        off = place[2] if place is not None and one.start is not None else 0
        found.append((one, place[:2] if place is not None else None, off))
    return found


class Texts:
    """The documents of a corpus, whole, and where their tokens and leaves are.

    Tokens are those of one vocabulary, whatever the embedder, so that a budget of them buys the same in every corpus.
    """

    def __init__(self, corpus: Path) -> None:
        """Read the folder of the corpus."""
        self._documents = {document.id: document for document in whole_documents(corpus)}
        self._tokens = unit_counter(WORDPIECE)
        self._starts: dict[str, list[int]] = {}
        self._leaves = {
            leaf: TextSpan(document.id, start, end)
            for document in self._documents.values()
            for leaf, start, end in zip(
                document.leaves, document.starts, (*document.starts[1:], len(document.text)), strict=True
            )
        }

    def ids(self, key: str) -> list[str]:
        """Return the ids of the documents that evaluation knows under a name, usually one."""
        return sorted(document.id for document in self._documents.values() if document.key == key)

    def text(self, doc_id: str) -> str:
        """Return the text that the spans of a document's chunks count in."""
        return self._documents[doc_id].text

    def leaves_in(self, span: TextSpan) -> Sequence[str]:
        """Return the ids of the leaves that hold a part of a span."""
        return self._documents[span.document].leaves_in(span.start, span.end)

    def leaf(self, chunk_id: str) -> TextSpan:
        """Return where a leaf is."""
        return self._leaves[chunk_id]

    def between(self, span: TextSpan) -> tuple[int, int]:
        """Return the numbers [first, after) of the tokens that begin within a span."""
        starts = self._starts.get(span.document)
        if starts is None:
            starts = [start for start, _ in self._tokens.offsets(self.text(span.document))]
            self._starts[span.document] = starts
        return bisect_left(starts, span.start), bisect_left(starts, span.end)

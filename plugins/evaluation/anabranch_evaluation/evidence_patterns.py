"""Evidence by pattern: which passages of a corpus hold the words that answer a question.

A person who knows the words but not the passages writes a regular expression per question. It is looked for in the
whole text of a document, so that words which run over the end of a passage are found, and every passage that holds some
of them is relevant.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from anabranch.store.connections import open_for_reading
from anabranch.store.corpus_folder import require_corpus
from anabranch.store.stored_document import list_numbers, stored_chunks, stored_document
from anabranch_evaluation.qrels import Qrels
from anabranch_evaluation.queries import Gold

NOWHERE = "(no passage)"
"""Stands for evidence that no passage holds: it counts as not found."""


@dataclass(frozen=True, slots=True)
class JudgedPassages:
    """Relevant leaf passages by question.

    Attributes:
        qrels: Of the questions whose document is there.
        elsewhere: Questions about documents that are not.
        nowhere: Questions whose evidence is in no passage; they are in `qrels`, and can only miss.
    """

    qrels: Qrels
    elsewhere: frozenset[str]
    nowhere: frozenset[str]


def judged(gold: Mapping[str, Gold], corpus: Path) -> JudgedPassages:
    """Look for the evidence of each question in the leaves of a corpus.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    asked = {key: each for key, each in gold.items() if each.pattern is not None}
    found: Qrels = {}
    # Documents outside, questions inside: one text is in memory at a time, however many questions there are.
    for document in whole_documents(corpus):
        for key, each in asked.items():
            if each.pattern is not None and _is_about(each.document, document.source):
                hits = found.setdefault(key, {})
                for match in each.pattern.finditer(document.text):
                    hits.update(dict.fromkeys(_touched(match, document), 1))
    nowhere = frozenset(key for key, hits in found.items() if not hits)
    # Left out, a question whose evidence was lost in reading would make the score better.
    qrels = {key: found[key] or {NOWHERE: 1} for key in asked if key in found}
    return JudgedPassages(qrels, frozenset(asked.keys() - found.keys()), nowhere)


# By its beginning: the same file is `report.pdf` here and `report-v2.pdf` there.
def _is_about(name: str, source: str) -> bool:
    return PurePath(source).name.casefold().startswith(name.casefold())


def _touched(match: re.Match[str], document: WholeDocument) -> Sequence[str]:
    """Return the leaves that hold some of a match; a match of nothing touches nothing."""
    if match.start() == match.end():
        return ()
    first = bisect_right(document.starts, match.start()) - 1
    return document.leaves[max(first, 0) : bisect_right(document.starts, match.end() - 1)]


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """One document: where it is from, its text, and the ids of its leaves with the characters at which they start."""

    id: str
    key: str
    source: str
    text: str
    leaves: tuple[str, ...]
    starts: tuple[int, ...]


def whole_documents(corpus: Path) -> Iterator[WholeDocument]:
    """Yield the documents of a corpus, whatever their access tags: this is its owner's view.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    with open_for_reading(require_corpus(corpus)) as connection:
        for number in list_numbers(connection):
            if (document := stored_document(connection, number)) is None:
                continue
            chunks = stored_chunks(connection, document.doc_id)
            # The leaves tile the text, so joined they are what the reader made of the file.
            leaves = [(chunk.chunk_id, chunk.start, chunk.text) for chunk in chunks if chunk.text is not None]
            yield WholeDocument(
                id=document.doc_id,
                key=document.key,
                source=document.source,
                text="".join(text for _, _, text in leaves),
                leaves=tuple(chunk_id for chunk_id, _, _ in leaves),
                starts=tuple(start - leaves[0][1] for _, start, _ in leaves),
            )

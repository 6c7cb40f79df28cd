"""Evidence by pattern: finds the passages of a corpus that hold the words that answer a question.

A person who knows the words but not the passages writes a regular expression per question. It is searched in the whole
text of a document, so that a match may span passages, and every passage that holds a part of it is relevant.
"""

from __future__ import annotations

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
"""Stands for evidence that is in no passage, and so counts as not found."""


@dataclass(frozen=True, slots=True)
class JudgedPassages:
    """Relevant leaf passages by question.

    Attributes:
        qrels: Judgements of the questions whose document is in the corpus.
        elsewhere: Questions about other documents.
        nowhere: Questions whose evidence is in no passage; they are in `qrels`, and can only miss.
    """

    qrels: Qrels
    elsewhere: frozenset[str]
    nowhere: frozenset[str]


def judge_passages(gold: Mapping[str, Gold], corpus: Path) -> JudgedPassages:
    """Find the evidence of each question in the leaves of a corpus.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    questions = {key: each for key, each in gold.items() if each.pattern is not None}
    found: Qrels = {}
    # Documents in the outer loop, so that only one text is in memory.
    for document in whole_documents(corpus):
        for key, each in questions.items():
            if each.pattern is not None and _is_about(each.document, document.source):
                hits = found.setdefault(key, {})
                for match in each.pattern.finditer(document.text):
                    hits.update(dict.fromkeys(document.leaves_in(*match.span()), 1))
    nowhere = frozenset(key for key, hits in found.items() if not hits)
    # Leaving out questions whose evidence was lost in reading would improve the score.
    qrels = {key: found[key] or {NOWHERE: 1} for key in questions if key in found}
    return JudgedPassages(qrels, frozenset(questions.keys() - found.keys()), nowhere)


# Compared by prefix, because the same file may be `report.pdf` or `report-v2.pdf`.
def _is_about(name: str, source: str) -> bool:
    return PurePath(source).name.casefold().startswith(name.casefold())


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """One document: its source, its text, and the ids and start characters of its leaves."""

    id: str
    key: str
    source: str
    text: str
    leaves: tuple[str, ...]
    starts: tuple[int, ...]

    def leaves_in(self, start: int, end: int) -> Sequence[str]:
        """Return the leaves that hold a part of the characters [start, end); none where there are no characters."""
        if start == end:
            return ()
        first = bisect_right(self.starts, start) - 1
        return self.leaves[max(first, 0) : bisect_right(self.starts, end - 1)]


def whole_documents(corpus: Path) -> Iterator[WholeDocument]:
    """Yield all documents of a corpus, regardless of access tags.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    with open_for_reading(require_corpus(corpus)) as connection:
        for number in list_numbers(connection):
            if (document := stored_document(connection, number)) is None:
                continue
            chunks = stored_chunks(connection, document.doc_id)
            # The leaves tile the text, so joining them gives the whole text.
            leaves = [(chunk.chunk_id, chunk.start, chunk.text) for chunk in chunks if chunk.text is not None]
            yield WholeDocument(
                id=document.doc_id,
                key=document.key,
                source=document.source,
                text="".join(text for _, _, text in leaves),
                leaves=tuple(chunk_id for chunk_id, _, _ in leaves),
                starts=tuple(start - leaves[0][1] for _, start, _ in leaves),
            )

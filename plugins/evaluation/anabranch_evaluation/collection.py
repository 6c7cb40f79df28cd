"""Test collections: folders of documents, queries, and judgements of which documents answer which query.

In BEIR's form that is `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`; else the documents as they are, and
`questions.jsonl`, which says by regular expressions what the evidence is.
Judgements and texts come from different hands and seldom fit perfectly. What cannot be used is left out and counted in
a remark; only where nothing is left is it an error.
"""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from anabranch.errors import CollectionError
from anabranch.text.normalization import clean
from anabranch_evaluation.evidence_patterns import judged
from anabranch_evaluation.qrels import Qrels, find_qrels, read_qrels
from anabranch_evaluation.queries import Gold, read_gold, read_named_documents, read_queries

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
QUESTIONS = "questions.jsonl"
MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Collection:
    """Queries and their judgements, and where the documents are.

    Attributes:
        name: How tables and reports call it.
        folder: Where it was read from.
        corpus: The file of its documents; None where they are in a corpus already.
        queries: Text by id, of the queries that count: those with a relevant document.
        qrels: Judgements of those queries.
        remarks: What was left out, for people.
        documents: The files of its documents, where they are not in one file.
        evidence: What is known of the answers, where that takes the place of judgements: then `qrels` are of passages,
            and empty until a corpus is there to look into.
    """

    name: str
    folder: Path
    corpus: Path | None
    queries: dict[str, str]
    qrels: Qrels
    remarks: tuple[str, ...] = ()
    documents: tuple[Path, ...] = ()
    evidence: dict[str, Gold] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[Path, ...]:
        """What its corpus is made of; nothing where the documents are in a corpus already."""
        return self.documents or ((self.corpus,) if self.corpus is not None else ())


def is_collection(folder: Path) -> bool:
    """Tell whether a folder looks like a test collection."""
    return (folder / QUERIES).is_file() or (folder / QUESTIONS).is_file()


def read_collection(folder: Path, name: str = "", *, split: str = "test") -> Collection:
    """Read the queries and the judgements of a folder; its documents are only looked for.

    Args:
        folder: In BEIR's form.
        name: What to call it; the folder's own name where empty.
        split: Which of `qrels/*.tsv` to take where there is no `qrels.tsv`.

    Raises:
        CollectionError: A file is missing or has bad lines, or no query has a relevant document.
    """
    if not is_collection(folder):
        # The folder above is the usual mistake: it holds several collections.
        inside = sorted(path.name for path in folder.glob("*") if is_collection(path)) if folder.is_dir() else []
        msg = f"There is no {QUERIES} in {str(folder)!r}."
        hint = (
            f"It holds the collections {', '.join(inside)}: name one of them, or give a table and --data {folder}."
            if inside
            else f"A collection is a folder with {CORPUS}, {QUERIES} and qrels.tsv, or documents and {QUESTIONS}."
        )
        raise CollectionError(msg, hint=hint)
    if not (folder / QUERIES).is_file():
        return _of_questions(folder, name or folder.resolve().name)
    queries, qrels = read_queries(folder / QUERIES), _judgements(folder, split)
    judged = {query: rows for query, rows in qrels.items() if query in queries}
    # No ranking can score on the others: they would pull every mean down alike.
    useful = {query: rows for query, rows in judged.items() if any(value > 0 for value in rows.values())}
    if not useful:
        msg = f"The judgements of {folder} name no query of {QUERIES} with a relevant document."
        raise CollectionError(msg, hint=f"Queries are {_some(queries)}; judgements are of {_some(qrels)}.")
    remarks = [
        _remark(queries.keys() - qrels.keys(), "{queries} without a judgement {are} left out"),
        _remark(qrels.keys() - queries.keys(), f"judgements of {{queries}} that {{are}} not in {QUERIES} are left out"),
        _remark(judged.keys() - useful.keys(), "{queries} without a relevant document {are} left out"),
    ]
    corpus = folder / CORPUS
    return Collection(
        name=name or folder.resolve().name,
        folder=folder,
        # It may be missing: `--corpus` searches documents that were taken in before.
        corpus=corpus if corpus.is_file() else None,
        queries={query: queries[query] for query in queries if query in useful},
        qrels=useful,
        remarks=tuple(filter(None, remarks)),
    )


def _of_questions(folder: Path, name: str) -> Collection:
    path = folder / QUESTIONS
    texts, gold = read_queries(path), read_gold(path)
    queries = {key: text for key, text in texts.items() if gold[key].pattern is not None}
    if not queries:
        msg = f"No question of {path} says what its evidence is."
        raise CollectionError(msg, hint='Add "evidence_regex", a regular expression of the words that answer.')
    without = _remark(texts.keys() - queries.keys(), "{queries} without evidence {are} left out")
    return Collection(
        name=name,
        folder=folder,
        corpus=None,
        queries=queries,
        # Of passages, which are known only once the documents are cut.
        qrels={},
        remarks=(without,) if without else (),
        documents=tuple(sorted(each for each in folder.iterdir() if each != path and not each.name.startswith("."))),
        # Of all questions, also those without a pattern: some say that there is no answer, and are asked for that.
        evidence=gold,
    )


def with_evidence(collection: Collection, corpus: Path) -> Collection:
    """Judge the passages of a corpus by the evidence of a collection's questions.

    Raises:
        CollectionError: The documents of no question are there.
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    found = judged({key: collection.evidence[key] for key in collection.queries}, corpus)
    if not found.qrels:
        names = sorted({collection.evidence[key].document for key in found.elsewhere})
        msg = f"None of the documents that the questions of {collection.folder} are about is there: {_some(names)}."
        raise CollectionError(msg, hint="`doc` is what the name of the file begins with.")
    remarks = [
        _remark(found.elsewhere, "{queries} about documents that are not here {are} left out"),
        _remark(found.nowhere, "{queries} whose evidence is in no passage can only miss"),
    ]
    # Without the document nothing could be found, and the score would be of what somebody had at hand.
    queries = {key: text for key, text in collection.queries.items() if key in found.qrels}
    said = (*collection.remarks, *filter(None, remarks))
    return replace(collection, queries=queries, qrels=found.qrels, remarks=said)


def checked_against(collection: Collection, documents: Ids[str]) -> Collection:
    """Compare the judgements with the documents there are, and say which they do not know.

    Such a document stays in the judgements and counts as not found, as trec_eval has it: to leave it out would make
    every score higher than it is.

    Raises:
        CollectionError: No relevant document is among them: the ids are of another collection.
    """
    relevant = {key for rows in collection.qrels.values() for key, value in rows.items() if value > 0}
    unknown = relevant.difference(documents)
    # All of them unknown is a mistake of the user; some are usual, as judgements outlive documents.
    if unknown == relevant:
        msg = (
            f"None of the {len(relevant)} documents that the judgements of {collection.folder} call relevant is there."
        )
        hint = f"Documents are {_some(documents)}; judgements are of {_some(relevant)}."
        raise CollectionError(msg, hint=hint)
    if not unknown:
        return collection
    hit = sum(any(rows.get(key, 0) > 0 for key in unknown) for rows in collection.qrels.values())
    remark = (
        f"{len(unknown)} of {len(relevant)} relevant documents are not among the documents, such as {_some(unknown)}: "
        f"they count as not found, in {queries_counted(hit)}"
    )
    return replace(collection, remarks=(*collection.remarks, remark))


def _judgements(folder: Path, split: str) -> Qrels:
    """Read the judgements; without a file of them, the documents that the queries' references are in are relevant."""
    has_file = (folder / "qrels.tsv").exists() or (folder / "qrels").exists()
    named = {} if has_file else read_named_documents(folder / QUERIES)
    if named:
        return {query: dict.fromkeys(documents, 1) for query, documents in named.items()}
    return _cleaned(read_qrels(find_qrels(folder, split)))


def _cleaned(qrels: Qrels) -> Qrels:
    """Write document ids as the corpus does, which cleans whatever it takes in."""
    return {query: {clean(key).strip(): value for key, value in rows.items()} for query, rows in qrels.items()}


def _remark(ids: Ids[str], text: str) -> str:
    if not ids:
        return ""
    return text.format(queries=queries_counted(len(ids)), are="is" if len(ids) == 1 else "are") + f" ({_some(ids)})"


def queries_counted(queries: int) -> str:
    """Return `1 query`, `2 queries`."""
    return f"{queries} quer{'y' if queries == 1 else 'ies'}"


def _some(ids: Iterable[str]) -> str:
    listed = sorted(ids)
    return ", ".join(map(repr, listed[:MAX_NAMED])) + (", ..." if len(listed) > MAX_NAMED else "")

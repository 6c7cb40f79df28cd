"""Test collections: folders of documents, queries, and judgements of which documents answer which query.

BEIR's form is `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`; the other form is documents as they are, and
`questions.jsonl`, which describes the evidence by regular expressions.
Judgements and texts seldom fit perfectly. Unusable ones are left out and counted in a remark; it is an error only if
nothing is left.
"""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from anabranch.errors import CollectionError
from anabranch.text.normalization import clean
from anabranch_evaluation.evidence_patterns import judge_passages
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
        name: Its name in tables and reports.
        folder: The folder that it was read from.
        corpus: The file of its documents; None where they are in a corpus already.
        queries: Text by id of the queries with a relevant document.
        qrels: Judgements of those queries.
        remarks: Notes on what was left out.
        documents: The files of its documents, where they are not in one file.
        evidence: Known answers by query, if they replace judgements: then `qrels` judge passages, and are empty until
            a corpus is searched for them.
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
        """The files of its documents; empty where they are in a corpus already."""
        return self.documents or ((self.corpus,) if self.corpus is not None else ())


def is_collection(folder: Path) -> bool:
    """Tell whether a folder looks like a test collection."""
    return (folder / QUERIES).is_file() or (folder / QUESTIONS).is_file()


def read_collection(folder: Path, name: str = "", *, split: str = "test") -> Collection:
    """Read the queries and the judgements of a folder, but not its documents.

    Args:
        folder: The collection's folder.
        name: Its name; by default that of the folder.
        split: Which of `qrels/*.tsv` to take where there is no `qrels.tsv`.

    Raises:
        CollectionError: A file is missing or has bad lines, or no query has a relevant document.
    """
    if not is_collection(folder):
        # A usual mistake is to name the folder above, which holds several collections.
        inside = sorted(path.name for path in folder.glob("*") if is_collection(path)) if folder.is_dir() else []
        msg = f"There is no {QUERIES} in {str(folder)!r}."
        hint = (
            f"It holds the collections {', '.join(inside)}: name one of them, or give a table and --data {folder}."
            if inside
            else f"A collection is a folder with {CORPUS}, {QUERIES} and qrels.tsv, or documents and {QUESTIONS}."
        )
        raise CollectionError(msg, hint=hint)
    if not (folder / QUERIES).is_file():
        return _read_questions(folder, name or folder.resolve().name)
    queries, qrels = read_queries(folder / QUERIES), _judgements(folder, split)
    judged = {query: rows for query, rows in qrels.items() if query in queries}
    # The others can score nothing: they would lower every mean alike.
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
        # It may be missing, because `--corpus` searches documents that were ingested before.
        # Resolved, so that collections which link to the same documents share a corpus.
        corpus=corpus.resolve() if corpus.is_file() else None,
        queries={query: queries[query] for query in queries if query in useful},
        qrels=useful,
        remarks=tuple(filter(None, remarks)),
    )


def _read_questions(folder: Path, name: str) -> Collection:
    path = folder / QUESTIONS
    texts, gold = read_queries(path), read_gold(path)
    queries = {key: text for key, text in texts.items() if gold[key].pattern is not None}
    if not queries:
        msg = f"No question of {path} has evidence."
        raise CollectionError(
            msg, hint='Add "evidence_regex", a regular expression that matches the words that answer.'
        )
    without = _remark(texts.keys() - queries.keys(), "{queries} without evidence {are} left out")
    return Collection(
        name=name,
        folder=folder,
        corpus=None,
        queries=queries,
        # Judgements are of passages, which are known only after chunking.
        qrels={},
        remarks=(without,) if without else (),
        documents=tuple(sorted(each for each in folder.iterdir() if each != path and not each.name.startswith("."))),
        # Includes questions without a pattern, because some are known to have no answer.
        evidence=gold,
    )


def judge_by_evidence(collection: Collection, corpus: Path) -> Collection:
    """Judge the passages of a corpus by the evidence of a collection's questions.

    Raises:
        CollectionError: The corpus has no document of any question.
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    found = judge_passages({key: collection.evidence[key] for key in collection.queries}, corpus)
    if not found.qrels:
        names = sorted({collection.evidence[key].document for key in found.elsewhere})
        msg = f"The corpus has none of the documents that the questions of {collection.folder} name: {_some(names)}."
        raise CollectionError(msg, hint="`doc` has to be the beginning of a file's name.")
    remarks = [
        _remark(found.elsewhere, "{queries} about documents that are not here {are} left out"),
        _remark(found.nowhere, "{queries} whose evidence is in no passage can only miss"),
    ]
    # Questions about missing documents can find nothing, and would lower the score.
    queries = {key: text for key, text in collection.queries.items() if key in found.qrels}
    kept_remarks = (*collection.remarks, *filter(None, remarks))
    return replace(collection, queries=queries, qrels=found.qrels, remarks=kept_remarks)


def check_judgements(collection: Collection, documents: Ids[str]) -> Collection:
    """Compare the judgements with the documents, and remark on relevant ones that are missing.

    A missing document stays in the judgements and counts as not found, as in trec_eval: without it every score would
    be too high.

    Raises:
        CollectionError: All relevant documents are missing, so the ids belong to another collection.
    """
    relevant = {key for rows in collection.qrels.values() for key, value in rows.items() if value > 0}
    unknown = relevant.difference(documents)
    # If all are unknown it is a mistake; some are usual, because judgements outlive documents.
    if unknown == relevant:
        msg = (
            f"The documents include none of the {len(relevant)} relevant ones in the judgements of {collection.folder}."
        )
        hint = f"Documents are {_some(documents)}; judgements are of {_some(relevant)}."
        raise CollectionError(msg, hint=hint)
    if not unknown:
        return collection
    hit = sum(any(rows.get(key, 0) > 0 for key in unknown) for rows in collection.qrels.values())
    remark = (
        f"{len(unknown)} of {len(relevant)} relevant documents are not among the documents, such as {_some(unknown)}: "
        f"they count as not found, in {count_queries(hit)}"
    )
    return replace(collection, remarks=(*collection.remarks, remark))


def _judgements(folder: Path, split: str) -> Qrels:
    """Read the judgements; without a file of them, the documents of the queries' references are relevant."""
    has_file = (folder / "qrels.tsv").exists() or (folder / "qrels").exists()
    named = {} if has_file else read_named_documents(folder / QUERIES)
    if named:
        return {query: dict.fromkeys(documents, 1) for query, documents in named.items()}
    return _clean_ids(read_qrels(find_qrels(folder, split)))


def _clean_ids(qrels: Qrels) -> Qrels:
    """Clean document ids as the corpus does."""
    return {query: {clean(key).strip(): value for key, value in rows.items()} for query, rows in qrels.items()}


def _remark(ids: Ids[str], text: str) -> str:
    if not ids:
        return ""
    return text.format(queries=count_queries(len(ids)), are="is" if len(ids) == 1 else "are") + f" ({_some(ids)})"


def count_queries(queries: int) -> str:
    """Return `1 query`, `2 queries`."""
    return f"{queries} quer{'y' if queries == 1 else 'ies'}"


def _some(ids: Iterable[str]) -> str:
    listed = sorted(ids)
    return ", ".join(map(repr, listed[:MAX_NAMED])) + (", ..." if len(listed) > MAX_NAMED else "")

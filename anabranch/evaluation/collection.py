"""Test collections in BEIR's form: a folder with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.

Judgements and texts come from different hands and seldom fit perfectly. What cannot be used is left out and counted in
a remark; only where nothing is left is it an error.
"""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from anabranch.corpus.reading.cleaning import clean
from anabranch.errors import CollectionError
from anabranch.evaluation.judgements import Qrels, find_qrels, read_qrels
from anabranch.evaluation.queries import read_queries

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
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
    """

    name: str
    folder: Path
    corpus: Path | None
    queries: dict[str, str]
    qrels: Qrels
    remarks: tuple[str, ...] = ()


def is_collection(folder: Path) -> bool:
    """Tell whether a folder looks like a test collection."""
    return (folder / QUERIES).is_file()


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
        inside = sorted(path.name for path in folder.glob("*") if is_collection(path)) if folder.is_dir() else []
        msg = f"There is no {QUERIES} in {str(folder)!r}."
        hint = (
            f"It holds the collections {', '.join(inside)}: name one of them, or give a table and --data {folder}."
            if inside
            else f"A collection is a folder with {CORPUS}, {QUERIES} and qrels.tsv."
        )
        raise CollectionError(msg, hint=hint)
    queries, qrels = read_queries(folder / QUERIES), _cleaned(read_qrels(find_qrels(folder, split)))
    judged = {query: rows for query, rows in qrels.items() if query in queries}
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
        corpus=corpus if corpus.is_file() else None,
        queries={query: queries[query] for query in queries if query in useful},
        qrels=useful,
        remarks=tuple(filter(None, remarks)),
    )


def checked_against(collection: Collection, documents: Ids[str]) -> Collection:
    """Compare the judgements with the documents there are, and say which they do not know.

    Such a document stays in the judgements and counts as not found, as trec_eval has it: to leave it out would make
    every score higher than it is.

    Args:
        collection: As read.
        documents: Ids of the documents that can be found.

    Raises:
        CollectionError: No relevant document is among them: the ids are of another collection.
    """
    relevant = {key for rows in collection.qrels.values() for key, value in rows.items() if value > 0}
    unknown = relevant.difference(documents)
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
        f"they count as not found, in {_counted(hit)}"
    )
    return replace(collection, remarks=(*collection.remarks, remark))


def _cleaned(qrels: Qrels) -> Qrels:
    """Write document ids as the corpus does, which cleans whatever it takes in."""
    return {query: {clean(key).strip(): value for key, value in rows.items()} for query, rows in qrels.items()}


def _remark(ids: Ids[str], text: str) -> str:
    if not ids:
        return ""
    return text.format(queries=_counted(len(ids)), are="is" if len(ids) == 1 else "are") + f" ({_some(ids)})"


def _counted(queries: int) -> str:
    return f"{queries} quer{'y' if queries == 1 else 'ies'}"


def _some(ids: Iterable[str]) -> str:
    listed = sorted(ids)
    return ", ".join(map(repr, listed[:MAX_NAMED])) + (", ..." if len(listed) > MAX_NAMED else "")

"""Measures search on folders of several subjects: each question asked of its own collection, of each pair, of all.

    python -m evals.mixed --data DIR --documents FOLDER > evals/mixed.md

All collections are one corpus, each with an access tag of its own name. Whoever may read some of them gets, to the last
bit, what a corpus of these alone would give (docs/documents.md), so that every union is a caller's `access`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from anabranch.agent.nodes.settings import Context
from anabranch.cli.search_view import hits_of
from anabranch.ingestion.pipeline import ingest
from anabranch.retrieval.trec_run import best_per_document
from anabranch_evaluation.collection import CORPUS, Collection, judge_by_evidence, read_collection
from anabranch_evaluation.evidence_patterns import Gold
from anabranch_evaluation.metrics import PerQuery, scores_of
from anabranch_evaluation.qrels import Qrels
from anabranch_evaluation.queries import read_gold, read_queries
from anabranch_evaluation.significance import p_value

NAMES = ("hotpotqa", "musique", "codebase", "finance_10k", "cranfield", "scifact")
READER = "reader"
"""Short questions that do not use the words of the documents, as people ask them of three long documents."""

QUESTIONS = Path(__file__).with_name("questions.jsonl")
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "bm25": {"retrievers": ("bm25",)},
    "dense": {"retrievers": ("dense",)},
    "rrf": {"fusion": "rrf"},
    "minmax": {"fusion": "convex", "alpha": 0.5},
    "complete": {"alpha": 0.5},
    "default": {},
    "late_interaction": {"rerank": "late_interaction"},
}
BASELINE = "rrf"
ABOUT = """Written by `python -m evals.mixed`. Each question is asked of its own collection, of that beside each other
one, and of all. nDCG@10 by document; of the reader's questions RR@10 by passage. `rrf` is rank fusion, `minmax` plain
convex fusion, `complete` the same with every score known, `default` with a weight for each question, and
`late_interaction` the default with that reranker.
"""
DEPTH = 100


@dataclass(frozen=True, slots=True)
class Member:
    """Questions of one collection, and their judgements by the ids of the mixed corpus."""

    name: str
    queries: Mapping[str, str]
    qrels: Qrels
    metric: str
    by_passage: bool = False


@dataclass(frozen=True, slots=True)
class Mixed:
    """The scores of one member's questions, asked of one union: by configuration and question."""

    member: str
    union: tuple[str, ...]
    scores: Mapping[str, PerQuery]

    def mean(self, configuration: str) -> float:
        """Return the mean over the questions."""
        values = self.scores[configuration].values()
        return sum(values) / len(values)


def written(collections: Mapping[str, Collection], folder: Path) -> Path:
    """Write the documents of all collections into one file, each id and each access tag with its collection's name."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "mixed.jsonl").open("w", encoding="utf-8") as file:
        for name, collection in collections.items():
            for line in (collection.folder / CORPUS).read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                key = row.get("_id", row.get("id"))
                kept = {"id": f"{name}/{key}", "title": row.get("title", ""), "text": row["text"], "access": [name]}
                file.write(json.dumps(kept) + "\n")
    return folder / "mixed.jsonl"


def members(collections: Mapping[str, Collection], corpus: Path, most: int) -> Iterator[Member]:
    """Yield the questions of each collection, at most so many, evenly spread; those of readers last."""
    for name, collection in collections.items():
        keys = list(collection.queries)
        chosen = keys[:: max(1, len(keys) // most)][:most]
        qrels = {key: {f"{name}/{doc}": value for doc, value in collection.qrels[key].items()} for key in chosen}
        yield Member(name, {key: collection.queries[key] for key in chosen}, qrels, "nDCG@10")
    gold: dict[str, Gold] = read_gold(QUESTIONS)
    asked = Collection(READER, QUESTIONS.parent, None, read_queries(QUESTIONS), {}, evidence=gold)
    found = judge_by_evidence(asked, corpus)
    yield Member(READER, found.queries, found.qrels, "RR@10", by_passage=True)


async def asked_of(
    member: Member, union: tuple[str, ...], corpus: Path, names: Sequence[str], cpu: dict[str, float]
) -> Mixed:
    """Ask a member's questions of a union in each configuration."""
    scores: dict[str, PerQuery] = {}
    for name in names:
        context = Context(
            corpus=str(corpus), access=union, strategy="none", top_k=DEPTH, **CONFIGURATIONS[name],
        )  # fmt: skip
        rankings: dict[str, tuple[str, ...]] = {}
        began = time.process_time()
        for key, text in member.queries.items():
            hits, _ = await hits_of(text, context, None)
            keyed = ((chunk.chunk_id if member.by_passage else chunk.doc_key, item["score"]) for item, chunk in hits)
            rankings[key] = tuple(found for found, _ in best_per_document(keyed, DEPTH))
        cpu[name] = cpu.get(name, 0.0) + time.process_time() - began
        (scores[name],) = scores_of([member.metric], member.qrels, rankings).values()
    return Mixed(member.name, union, scores)


def unions(names: Sequence[str], *, pairs: bool) -> list[tuple[str, ...]]:
    """Return each collection alone, each pair, and all."""
    return [*((name,) for name in names), *(combinations(names, 2) if pairs else ()), tuple(names)]


def report(found: Sequence[Mixed], names: Sequence[str], cpu: Mapping[str, float], asked: int) -> Iterator[str]:
    """Yield the lines of a Markdown page."""
    whole = max(len(each.union) for each in found)
    yield "# Search on folders of several subjects\n"
    yield ABOUT
    for title, sizes in (("alone", {1}), ("beside one other", {2}), ("beside all others", {whole})):
        rows = [each for each in found if len(each.union) in sizes]
        if rows:
            yield from _table(title, rows, names)
    yield f"## Against `{BASELINE}`, question by question\n"
    yield "| | difference | lowest difference of a collection in a union | where | p |\n|---|--:|--:|---|--:|"
    for name in names:
        if name != BASELINE:
            yield _against(name, found)
    yield "\np is of a paired randomisation test over all questions in all unions; a question counts once for each.\n"
    yield "## CPU\n"
    yield "Milliseconds of processor time a search, on the machine of this run: compare columns, not machines.\n"
    yield "| " + " | ".join(names) + " |\n|" + "--:|" * len(names)
    yield "| " + " | ".join(f"{1000 * cpu[name] / asked:.0f}" for name in names) + " |"


def _table(title: str, rows: Sequence[Mixed], names: Sequence[str]) -> Iterator[str]:
    yield f"## Each collection {title}\n"
    yield "| collection | questions | " + " | ".join(names) + " |\n|---|--:|" + "--:|" * len(names)
    members = list(dict.fromkeys(each.member for each in rows))
    means = {
        (member, name): _mean([each.mean(name) for each in rows if each.member == member])
        for member in members
        for name in names
    }
    for member in members:
        count = next(len(each.scores[names[0]]) for each in rows if each.member == member)
        yield f"| {member} | {count} | " + " | ".join(f"{means[member, name]:.3f}" for name in names) + " |"
    overall = (_mean([means[member, name] for member in members]) for name in names)
    yield "| mean | | " + " | ".join(f"{value:.3f}" for value in overall) + " |\n"


def _against(name: str, found: Sequence[Mixed]) -> str:
    differences = [(each.mean(name) - each.mean(BASELINE), each) for each in found]
    lowest, where = min(differences, key=lambda one: one[0])
    pairs = [(each.scores[name][key], each.scores[BASELINE][key]) for each in found for key in each.scores[BASELINE]]
    p = p_value([one for one, _ in pairs], [other for _, other in pairs])
    others = [one for one in where.union if one != where.member]
    beside = f"beside {others[0]}" if len(others) == 1 else "beside all" if others else "alone"
    mean = _mean([difference for difference, _ in differences])
    return f"| {name} | {mean:+.3f} | {lowest:+.3f} | {where.member} {beside} | {p:.4f} |"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


async def _measured(corpus: Path, collections: Mapping[str, Collection], options: argparse.Namespace) -> Iterator[str]:
    names = options.configurations.split(",")
    every = list(members(collections, corpus, options.questions))
    found, cpu, asked = [], dict[str, float](), 0
    for union in unions([each.name for each in every], pairs=options.pairs):
        for member in every:
            if member.name in union:
                found.append(await asked_of(member, union, corpus, names, cpu))
                asked += len(member.queries)
        sys.stderr.write(f"{' + '.join(union)}: asked\n")
    return report(found, names, cpu, asked)


def main() -> None:
    """Measure what the arguments say, and print a Markdown page."""
    parser = argparse.ArgumentParser(prog="python -m evals.mixed", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the collections, in BEIR's form")
    parser.add_argument("--documents", type=Path, required=True, help="folder of what questions.jsonl is about")
    parser.add_argument("--home", type=Path, default=Path(".anabranch/mixed"), help="where the corpus is kept")
    parser.add_argument("--questions", type=int, default=100, help="questions of each collection at most")
    parser.add_argument("--collections", default=",".join(NAMES))
    parser.add_argument("--configurations", default=",".join(CONFIGURATIONS))
    parser.add_argument("--pairs", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    collections = {name: read_collection(options.data / name) for name in options.collections.split(",")}
    corpus = options.home / "corpus"
    ingest(written(collections, options.home), corpus)
    asked = tuple({gold.document for gold in read_gold(QUESTIONS).values()})
    ingest(
        [path for path in sorted(options.documents.iterdir()) if path.name.startswith(asked)], corpus, access=[READER]
    )
    sys.stdout.write("\n".join(asyncio.run(_measured(corpus, collections, options))) + "\n")


if __name__ == "__main__":
    main()

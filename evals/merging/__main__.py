"""Measures a table of ways to make passages on a collection whose queries name their evidence.

    python -m evals.merging FOLDER > evals/merging.md
    python -m evals.merging FOLDER --table passages.yaml --cache .anabranch/eval

The queries' `references` say what the evidence is: docs/evaluation.md has their form.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field

from anabranch.agent.graph.dependencies import load_corpus, make_scope
from anabranch.agent.nodes.settings import Context
from anabranch.cli.search_view import hits_of
from anabranch.store.chunk_ancestors import Ancestry, ancestry_of
from anabranch_evaluation.collection import read_collection
from anabranch_evaluation.collection_corpus import Prepared, prepare
from anabranch_evaluation.eval_report import number
from anabranch_evaluation.metrics import PerQuery
from anabranch_evaluation.significance import BOOTSTRAPS, SEED, compare_runs
from anabranch_evaluation.span_evidence import SpanEvidence, with_spans
from anabranch_evaluation.token_metrics import TextSpan, span_scores
from evals.merging.passage_builders import PassageBuilder, passages_of

TABLE = Path(__file__).with_name("table.yaml")
AFTER_SEARCH = {"merge_threshold", "window_tokens"}
"""Settings that only change what passages are made of the leaves that were found."""


class MergingTable(BaseModel):
    """What is compared: settings by configuration, and how passages are made where not as the product does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    about: str = ""
    metrics: tuple[str, ...] = Field(min_length=1)
    baseline: str
    chunk_sizes: tuple[int, int, int] | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    configurations: dict[str, dict[str, Any]] = Field(min_length=1)
    passages: dict[str, PassageBuilder] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured:
    """Scores by query, metric and configuration, and the text that each query is about."""

    prepared: Prepared
    scores: Mapping[str, Mapping[str, PerQuery]]
    texts: Mapping[str, str]

    def weights(self) -> dict[str, float]:
        """Return how much each query counts: a mean over queries would be that of the text with the most of them."""
        sizes = Counter(self.texts.values())
        return {query: len(self.texts) / len(sizes) / sizes[text] for query, text in self.texts.items()}

    def weighted(self, configuration: str, metric: str) -> PerQuery:
        """Return scores whose plain mean is the mean of the means of the texts."""
        weights = self.weights()
        return {query: score * weights[query] for query, score in self.scores[configuration][metric].items()}


async def measured(table: MergingTable, folder: Path, cache: Path) -> Measured:
    """Search every query in every configuration, and score the places of its passages."""
    prepared = prepare(read_collection(folder), cache, sizes=table.chunk_sizes)
    collection, evidence = await asyncio.to_thread(with_spans, prepared.collection, prepared.corpus)
    prepared = replace(prepared, collection=collection)
    contexts = {
        name: Context(**{**table.settings, **own, "corpus": str(prepared.corpus)})
        for name, own in table.configurations.items()
    }
    found: dict[str, dict[str, list[TextSpan]]] = {name: {} for name in contexts}
    for query, text in prepared.collection.queries.items():
        searched: dict[str, tuple[dict[str, float], Ancestry]] = {}
        for name, context in contexts.items():
            key = context.model_dump_json(exclude=AFTER_SEARCH)
            if key not in searched:
                searched[key] = await _leaves_of(text, context)
            builder = table.passages.get(name, PassageBuilder())
            found[name][query] = await _places_of(builder, context, *searched[key])
    return Measured(prepared, {name: _scored(table, evidence, run) for name, run in found.items()}, evidence.texts)


async def _leaves_of(query: str, context: Context) -> tuple[dict[str, float], Ancestry]:
    hits, _ = await hits_of(query, context, None)
    around = await ancestry_of(
        await load_corpus(context), make_scope(context), {chunk.chunk_id: chunk for _, chunk in hits}
    )
    return {chunk.chunk_id: item["score"] for item, chunk in hits}, around


async def _places_of(
    builder: PassageBuilder, context: Context, ranked: dict[str, float], around: Ancestry
) -> list[TextSpan]:
    ids = passages_of(builder, ranked, around, threshold=context.merge_threshold, window=context.window_tokens)
    others = [chunk_id for chunk_id in ids if chunk_id not in around.chunks]
    fetched = await (await load_corpus(context)).chunks(others, make_scope(context)) if others else {}
    chunks = {**around.chunks, **fetched}
    return [TextSpan(chunks[each].doc_id, chunks[each].start, chunks[each].end) for each in ids if each in chunks]


def _scored(table: MergingTable, evidence: SpanEvidence, run: Mapping[str, Sequence[TextSpan]]) -> dict[str, PerQuery]:
    return span_scores(table.metrics, evidence.spans, run, evidence.places)


def interval(scores: PerQuery, texts: Mapping[str, str]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of the means of the texts; each text is sampled for itself."""
    groups = [[score for query, score in scores.items() if texts[query] == text] for text in sorted({*texts.values()})]
    # SciPy's bootstrap knows no strata.
    rng = np.random.default_rng(SEED)
    means = [rng.choice(group, (BOOTSTRAPS, len(group))).mean(axis=1) for group in groups]
    low, high = np.percentile(np.mean(means, axis=0), [2.5, 97.5])
    return float(low), float(high)


def report(table: MergingTable, found: Measured) -> Iterator[str]:
    """Yield the lines of the report as Markdown; the same scores give the same text."""
    first, collection = table.metrics[0], found.prepared.collection
    yield f"# {table.title}\n\nWritten by `python -m evals.merging`; do not edit.\n\n{table.about.strip()}\n"
    about = (
        f"{found.prepared.documents} documents, {len(collection.queries)} queries, embedder {found.prepared.embedder}."
    )
    yield f"## {collection.name}\n\n{about} Each text counts alike in the means.\n"
    yield from _head("configuration", *table.metrics, f"95 % of {first}")
    for name in table.configurations:
        means = (number(float(np.mean(list(found.weighted(name, metric).values())))) for metric in table.metrics)
        low, high = interval(found.scores[name][first], found.texts)
        yield f"| {name} | {' | '.join(means)} | {low:.3f} to {high:.3f} |"
    yield f"\n## {first} by text\n"
    texts = sorted({*found.texts.values()})
    yield from _head("configuration", *texts)
    for name in table.configurations:
        by_text = ([s for q, s in found.scores[name][first].items() if found.texts[q] == text] for text in texts)
        yield f"| {name} | {' | '.join(number(float(np.mean(each))) for each in by_text)} |"
    yield from _compared(table, found)
    yield from (f"- {remark}." for remark in collection.remarks)


def _compared(table: MergingTable, found: Measured) -> Iterator[str]:
    yield f"\n## Query by query against {table.baseline}\n"
    yield f"{table.metrics[0]}: mean difference, queries won, lost and tied, and p of a paired randomisation test,"
    yield "corrected by Holm.\n"
    yield from _head("configuration", "difference", "won", "lost", "tied", "p")
    columns = {name: found.weighted(name, table.metrics[0]) for name in table.configurations}
    for c in compare_runs(columns, table.baseline):
        yield f"| {c.configuration} | {c.difference:+.3f} | {c.won} | {c.lost} | {c.tied} | {c.p:.4f} |"
    yield ""


def _head(*names: str) -> tuple[str, str]:
    return f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m evals.merging", description="Measure ways to make passages.")
    parser.add_argument("folder", type=Path, help="a collection whose queries have `references`")
    parser.add_argument("--table", type=Path, default=TABLE, help="YAML: metrics, configurations, passages")
    parser.add_argument("--cache", type=Path, default=Path(".anabranch/eval"), help="keeps the corpus")
    options = parser.parse_args(arguments)
    table = MergingTable.model_validate(yaml.safe_load(options.table.read_text("utf-8")))
    found = asyncio.run(measured(table, options.folder, options.cache))
    sys.stdout.writelines(f"{line}\n" for line in report(table, found))


if __name__ == "__main__":
    main()

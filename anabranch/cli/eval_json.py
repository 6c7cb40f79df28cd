"""An evaluation for programs: one object for the whole, one line per query for a closer look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from anabranch.evaluation.score_report import CollectionReport, Report

SHOWN_DOCUMENTS = 20


def report_json(report: Report) -> dict[str, Any]:
    """Return means, intervals, comparisons and checks."""
    return {
        "title": report.table.title,
        "metrics": list(report.table.metrics),
        "baseline": report.table.baseline,
        "configurations": dict(report.shown),
        "collections": [_collection(each) for each in report.collections],
        "absent": list(report.absent),
        "checks": [
            {
                **check.case.model_dump(),
                "tolerance": check.tolerance,
                "measured": check.measured,
                "verdict": check.verdict,
            }
            for check in report.checks
        ],
        "margins": [{**asdict(check), "margin": check.margin.model_dump()} for check in report.margins],
    }


def per_query_lines(report: Report) -> Iterator[str]:
    """Yield one JSON object per collection, query and configuration: its scores, what it found, what was relevant."""
    for each in report.collections:
        collection = each.prepared.collection
        for query, text in collection.queries.items():
            relevant = [key for key, value in collection.qrels[query].items() if value > 0]
            for name, scored in each.scored.items():
                row = {
                    "collection": each.name,
                    "configuration": name,
                    "query": query,
                    "text": text,
                    "scores": {metric: round(scored.scores[metric][query], 6) for metric in report.table.metrics},
                    "found": list(scored.run.rankings[query][:SHOWN_DOCUMENTS]),
                    "relevant": relevant,
                }
                yield json.dumps(row, ensure_ascii=False)


def _collection(each: CollectionReport) -> dict[str, Any]:
    return {
        "name": each.name,
        "documents": each.prepared.documents,
        "queries": len(each.prepared.collection.queries),
        "embedder": each.prepared.embedder,
        "scores": {name: scored.means for name, scored in each.scored.items()},
        "intervals": {name: [scored.low, scored.high] for name, scored in each.scored.items()},
        "texts": {
            text: {name: {m: scored.mean_of(m, queries) for m in scored.scores} for name, scored in each.scored.items()}
            for text, queries in each.texts.items()
        },
        "comparisons": [asdict(comparison) for comparison in each.comparisons],
        "remarks": list(each.remarks()),
    }

"""A report without a search: scores of two collections, two configurations."""

from __future__ import annotations

from pathlib import Path

from anabranch_evaluation.collection import Collection
from anabranch_evaluation.collection_corpus import Prepared
from anabranch_evaluation.collection_scores import CollectionScores, score_collection
from anabranch_evaluation.eval_report import EvalReport
from anabranch_evaluation.runs import Run
from anabranch_evaluation.score_report import report_scores
from anabranch_evaluation.score_tables import ScoreTable

TABLE = {
    "title": "Trial | of two",
    "about": "What it is about.",
    "metrics": ["nDCG@10", "RR@10"],
    "baseline": "old",
    "configurations": {"old": {}, "new": {"fusion": "rrf"}},
    "collections": ["here", "there", "nowhere"],
    "cases": [
        {"collection": "here", "configuration": "old", "metric": "RR@10", "expected": 0.5},
        {"collection": "here", "configuration": "new", "metric": "RR@10", "expected": 0.5},
        {"collection": "nowhere", "configuration": "new", "metric": "RR@10", "expected": 0.5},
    ],
    "margins": [{"configuration": "new", "over": ["old"], "by": 0.5, "where": "each"}],
}


def collection(name: str, *, remarks: tuple[str, ...] = ()) -> Prepared:
    queries = {f"q{number}": f"text {number}" for number in range(4)}
    qrels = {key: {"right": 1} for key in queries}
    return Prepared(Collection(name, Path(name), None, queries, qrels, remarks), Path(name), 1234, "made:up")


def collections() -> tuple[CollectionScores, ...]:
    """In `here` old finds everything second and new finds it first; in `there` it is the other way round."""
    first, second = ("right", "wrong"), ("wrong", "right")
    table = ScoreTable.model_validate(TABLE)
    queries = [f"q{number}" for number in range(4)]
    here = {
        "old": Run(dict.fromkeys(queries, second), {"q3": "It has no letter."}),
        "new": Run(dict.fromkeys(queries, first)),
    }
    here["new"].degraded["rerank: it was down."] = 2
    there = {"old": Run(dict.fromkeys(queries, first)), "new": Run(dict.fromkeys(queries, second))}
    return (
        score_collection(table, dict.fromkeys(here, collection("here", remarks=("one | thing",))), here),
        score_collection(table, dict.fromkeys(there, collection("there")), there),
    )


def report() -> EvalReport:
    settings = {"old": "the defaults", "new": 'fusion="rrf"'}
    return report_scores(ScoreTable.model_validate(TABLE), collections(), ("nowhere",), settings)

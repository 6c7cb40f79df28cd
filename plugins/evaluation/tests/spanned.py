"""Makes a small collection whose evidence is known by its characters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch_evaluation.collection import read_collection
from anabranch_evaluation.collection_corpus import Prepared, prepare
from plugins.evaluation.tests.made import write_lines

# Reading drops the blank lines at the top and the soft hyphens: no character keeps its number.
TEXTS = {
    "gauge": "\n\n\n"
    + "\n\n\n".join(
        f"In year {year} the wa\u00adter stood {year % 89} hands high at the gauge of the mill.   "
        for year in range(60)
    ),
    "otters": "  Otters hold hands while they sleep. They eat crabs.\n\n\n"
    "  Otters hold hands while they sleep. Owls do not.",
}
ASKED = {
    "high": ("How high did the water stand in year 31?", "gauge", ["In year 31 the wa\u00adter stood 31 hands high"]),
    "sleep": ("How do otters sleep?", "otters", ["Otters hold hands while they sleep."]),
    "eat": ("What do otters eat?", "otters", ["They eat crabs.", "Owls do not."]),
}


def references(document: str, said: list[str]) -> list[dict[str, Any]]:
    """Where the words are, the last time they are said."""
    starts = [TEXTS[document].rindex(words) for words in said]
    return [
        {"content": words, "start_index": start, "end_index": start + len(words)}
        for words, start in zip(said, starts, strict=True)
    ]


def make_spanned(folder: Path, *more: dict[str, Any]) -> Path:
    """Write a collection with `references` in its queries, and further queries."""
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "corpus.jsonl", [{"id": key, "text": text} for key, text in TEXTS.items()])
    rows = [
        {"id": key, "text": text, "corpus_id": document, "references": references(document, said)}
        for key, (text, document, said) in ASKED.items()
    ]
    write_lines(folder / "queries.jsonl", [*rows, *more])
    judged = [(row["id"], row["corpus_id"]) for row in (*rows, *more)]
    (folder / "qrels.tsv").write_text("".join(f"{query}\t{document}\t1\n" for query, document in judged))
    return folder


def prepared(folder: Path) -> Prepared:
    return prepare(read_collection(folder), folder.parent / "cache", sizes=(512, 64, 32))

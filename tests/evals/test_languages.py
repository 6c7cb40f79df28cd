"""Collections of XQuAD's files."""

from __future__ import annotations

import json
from pathlib import Path

from anabranch_evaluation.collection import read_collection
from anabranch_evaluation.collection_corpus import prepare
from evals.languages.__main__ import EVERY, cross, written


def article(*texts: str) -> dict[str, object]:
    asked = [{"id": f"{text}-{number}", "question": f"{text} {number}?"} for text in texts for number in range(EVERY)]
    each = [
        {"context": f"\ufeff{text}", "qas": asked[place * EVERY : (place + 1) * EVERY]}
        for place, text in enumerate(texts)
    ]
    return {"paragraphs": each}


def xquad(folder: Path, language: str, *articles: dict[str, object]) -> Path:
    source = folder / f"xquad.{language}.json"
    source.write_text(json.dumps({"data": articles}), encoding="utf-8")
    return source


def test_a_file_becomes_a_collection_whose_paragraphs_have_the_same_ids_in_every_language(tmp_path: Path) -> None:
    source = xquad(tmp_path, "de", article("Fluss", "Mühle"), article("Wehr"))
    assert written(source, tmp_path / "de") == 3
    collection = read_collection(tmp_path / "de")
    assert dict(collection.queries) == {"Fluss-0": "Fluss 0?", "Mühle-0": "Mühle 0?", "Wehr-0": "Wehr 0?"}
    assert [list(found) for found in collection.qrels.values()] == [["p0"], ["p1"], ["p2"]]
    rows = [json.loads(line) for line in (tmp_path / "de" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows] == ["Fluss", "Mühle", "Wehr"]


def test_questions_in_one_language_and_paragraphs_in_another_share_the_corpus(tmp_path: Path) -> None:
    for language, words in {"de": ("Fluss", "Wehr"), "en": ("river", "weir")}.items():
        written(xquad(tmp_path, language, article(*words)), tmp_path / language)
    # Again, as whoever runs the command a second time.
    for _ in range(2):
        cross(tmp_path, "de", "en")
    collection = read_collection(tmp_path / "de-en")
    assert dict(collection.queries) == {"Fluss-0": "Fluss 0?", "Wehr-0": "Wehr 0?"}
    assert [list(found) for found in collection.qrels.values()] == [["p0"], ["p1"]]
    assert collection.sources == read_collection(tmp_path / "en").sources
    english = prepare(read_collection(tmp_path / "en"), tmp_path / "cache")
    assert prepare(collection, tmp_path / "cache").corpus == english.corpus

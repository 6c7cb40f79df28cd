"""Collections of XQuAD's files."""

from __future__ import annotations

import json
from pathlib import Path

from anabranch_evaluation.collection import read_collection
from evals.languages.__main__ import EVERY, written


def test_a_file_becomes_a_collection_whose_paragraphs_have_the_same_ids_in_every_language(tmp_path: Path) -> None:
    def article(*texts: str) -> dict[str, object]:
        asked = [
            {"id": f"{text}-{number}", "question": f"{text} {number}?"} for text in texts for number in range(EVERY)
        ]
        each = [
            {"context": f"\ufeff{text}", "qas": asked[place * EVERY : (place + 1) * EVERY]}
            for place, text in enumerate(texts)
        ]
        return {"paragraphs": each}

    source = tmp_path / "xquad.de.json"
    source.write_text(json.dumps({"data": [article("Fluss", "Mühle"), article("Wehr")]}), encoding="utf-8")
    assert written(source, tmp_path / "de") == 3
    collection = read_collection(tmp_path / "de")
    assert dict(collection.queries) == {"Fluss-0": "Fluss 0?", "Mühle-0": "Mühle 0?", "Wehr-0": "Wehr 0?"}
    assert [list(found) for found in collection.qrels.values()] == [["p0"], ["p1"], ["p2"]]
    rows = [json.loads(line) for line in (tmp_path / "de" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows] == ["Fluss", "Mühle", "Wehr"]

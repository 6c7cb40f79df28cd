from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch_evaluation.references import Reference, read_references
from plugins.evaluation.tests.made import write_lines


def test_places_and_words_in_the_form_of_chroma(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "queries.jsonl",
        [
            {
                "id": "q0",
                "text": "Why?",
                "corpus_id": "d",
                "references": [{"content": "Because.", "start_index": 3, "end_index": 11}],
            },
            {"_id": 1, "text": "How?", "references": [{"corpus_id": "e", "content": "So."}]},
            {"_id": "q2", "text": "What?", "corpus_id": "d", "references": [{"start_index": 0, "end_index": 2}]},
            {"_id": "q3", "text": "No evidence."},
            {"_id": "q4", "text": "None of it.", "corpus_id": "d", "references": []},
        ],
    )
    assert read_references(path) == {
        "q0": (Reference("d", 3, 11, "Because."),),
        "1": (Reference("e", None, None, "So."),),
        "q2": (Reference("d", 0, 2, ""),),
    }


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"references": [{"content": "a"}]}, "names no document"),
        ({"references": [{"content": "a"}], "corpus_id": True}, "names no document"),
        ({"references": "a", "corpus_id": "d"}, "not a list"),
        ({"references": ["a"], "corpus_id": "d"}, "not a list"),
        ({"references": [{}], "corpus_id": "d"}, "neither words nor a place"),
        ({"references": [{"content": " "}], "corpus_id": "d"}, "neither words nor a place"),
        ({"references": [{"content": 5}], "corpus_id": "d"}, "not text"),
        ({"references": [{"start_index": 5, "end_index": 5}], "corpus_id": "d"}, "5 to 5"),
        ({"references": [{"start_index": -1, "end_index": 5}], "corpus_id": "d"}, "-1 to 5"),
        ({"references": [{"start_index": 0.5, "end_index": 5}], "corpus_id": "d"}, "0.5 to 5"),
        ({"references": [{"start_index": 1, "content": "a"}], "corpus_id": "d"}, "1 to None"),
    ],
)
def test_a_bad_line_is_named_of_references(tmp_path: Path, bad: dict[str, object], said: str) -> None:
    path = write_lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "fine"}, {"_id": "r", "text": "bad", **bad}])
    with pytest.raises(CollectionError, match=rf"line 2: .*{said}"):
        read_references(path)

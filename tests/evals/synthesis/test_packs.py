"""Questions get the passages that their row names, in its order; the rows that are kept here are what they say."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import SettingsError
from evals.languages.__main__ import written
from evals.synthesis.packs import QUESTIONS, XQUAD, Passage, halves, packs_of, read_packs
from evals.synthesis.scoring import contains

ROWS: list[dict[str, Any]] = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
WIKIPEDIA = ("hotpotqa", "musique")
WEIR = "The weir at Halden was rebuilt in 1911, because the flood of the year before had carried it away."


def lines(file: Path, *records: dict[str, object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")


def row(name: str, collection: str, *passages: str) -> dict[str, Any]:
    return {"id": name, "set": collection, "split": "dev", "kind": "answerable", "spellings": ["1911"],
            "passages": list(passages)}  # fmt: skip


def test_a_pack_has_the_passages_of_its_row_and_survives_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "retrieval" / "musique"
    lines(
        folder / "corpus.jsonl",
        {"id": "d0", "title": "Halden (town)", "text": WEIR},
        {"id": "d1", "title": "Ada Brook", "text": "She was born in Rome."},
        {"id": "d2", "title": "Mill", "text": "unused"},
    )
    lines(folder / "queries.jsonl", {"id": "q", "text": " When was the weir rebuilt? ", "answers": ["1911"]})
    [pack] = packs_of(tmp_path, [row("q", "musique", "d1", "d0"), row("p", "hotpotqa", "d0")])
    assert (pack.text, pack.spellings, pack.answerable) == ("When was the weir rebuilt?", ("1911",), True)
    # Only where the paragraph does not name its subject is the title put before it.
    assert pack.one == (Passage("Ada Brook", "Ada Brook: She was born in Rome."), Passage("Halden (town)", WEIR))
    assert pack.two == ((pack.one[0],), (pack.one[1],))
    (tmp_path / "packs.json").write_text(json.dumps([asdict(pack)]))
    assert read_packs(tmp_path / "packs.json") == [pack]


def test_paragraphs_of_xquad_are_read_as_they_were_written(tmp_path: Path) -> None:
    paragraph = {"context": "Das Wehr wurde 1911 erneuert.", "qas": [{"id": "q", "question": "Wann?"}]}
    source = tmp_path / "xquad.de.json"
    source.write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}), "utf-8")
    written(source, tmp_path / "xquad" / "de")
    [pack] = packs_of(tmp_path, [row("q", "xquad/de", "p0")], xquad=tmp_path / "xquad")
    assert (pack.text, pack.one) == ("Wann?", (Passage("", "Das Wehr wurde 1911 erneuert."),))
    assert not list(packs_of(tmp_path, [row("q", "xquad/de", "p0")]))


def test_a_seeds_question_has_what_the_search_packs_and_never_the_file_of_answers(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds"
    lines(seeds / "questions.jsonl", {"id": "q", "text": "When was the weir at Halden rebuilt?", "answer": "in 1911"})
    seeds.joinpath("weir.txt").write_text(f"{WEIR}\n\nIts engineer was Ada Brook.")
    [pack] = packs_of(tmp_path, [row("q", "seeds")])
    assert "carried it away" in " ".join(passage.text for passage in pack.one)
    assert not any('"answer"' in passage.text for window in pack.two for passage in window)


@pytest.mark.parametrize("content", ["{", "[{}]", '["a"]', '[{"id": "q", "spellings": [], "one": [], "two": []}]'])
def test_a_file_that_holds_no_packs_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "packs.json"
    file.write_text(content)
    with pytest.raises(SettingsError, match=r"packs\.json"):
        read_packs(file)


def test_halves_keep_the_order_and_are_about_as_long() -> None:
    passages = [Passage("", "x" * size) for size in (100, 300, 200, 150, 50)]
    first, second = halves(passages)
    assert [*first, *second] == passages
    assert [len(each.text) for each in first] == [100, 300]
    assert halves(passages[:1]) == ((passages[0],),)


def test_the_rows_are_what_the_page_says_of_them() -> None:
    assert len({each["id"] for each in ROWS}) == len(ROWS) == 255
    xquad = Counter((each["set"], each["split"], each["kind"]) for each in ROWS if each["set"].startswith(XQUAD))
    assert xquad == {
        ("xquad/en", "test", "answerable"): 40, ("xquad/en", "test", "unanswerable"): 20,
        ("xquad/de", "test", "answerable"): 15, ("xquad/de", "test", "unanswerable"): 10,
    }  # fmt: skip
    ours = [each for each in ROWS if each["set"] in WIKIPEDIA]
    assert Counter(each["kind"] for each in ours) == {"answerable": 100, "unanswerable": 44}
    assert Counter((each["split"], each["kind"]) for each in ours) == {
        ("dev", "answerable"): 35, ("test", "answerable"): 65,
        ("dev", "unanswerable"): 15, ("test", "unanswerable"): 29,
    }  # fmt: skip
    for each in ROWS:
        assert bool(each["spellings"]) == (each["kind"] == "answerable")


def test_the_answer_stands_in_the_passages_of_answerable_questions_alone(shared: Path) -> None:
    data, known = shared / "data", {}
    for name in WIKIPEDIA:
        for line in (data / "retrieval" / name / "queries.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            known[record["id"]] = record["answers"]
    packs = list(packs_of(data, [each for each in ROWS if each["set"] in WIKIPEDIA]))
    assert len(packs) == 144
    for pack in packs:
        shown = " ".join(passage.text for passage in pack.one)
        assert contains(shown, pack.spellings or known[pack.id]) == pack.answerable, pack.id
        assert [passage for window in pack.two for passage in window] == list(pack.one)

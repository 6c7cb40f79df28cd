"""The engines that need no other environment build, find and agree as the tables say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.at_scale.keyword_search import main
from benchmarks.at_scale.pool import Pool
from tests.benchmarks.at_scale.conftest import TEXT

WORDS = ("alder", "birch", "cedar", "dogwood", "elder", "fir")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Each question has one document with its rare word."""
    home = tmp_path / "trees"
    home.mkdir()
    documents = [{"id": word, "title": "A tree", "text": f"Where a {word} grows."} for word in WORDS]
    questions = [{"id": f"q{word}", "text": f"Where does the {word} grow?"} for word in WORDS]
    for name, records in (("corpus.jsonl", documents), ("queries.jsonl", questions)):
        (home / name).write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    rows = [f"q{word}\t{word}\t1" for word in WORDS]
    (home / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n", "utf-8")
    return home


@pytest.mark.slow
def test_engines_are_in_both_tables(labelled: Path, kept: Path, pool: Pool) -> None:
    page = kept / "words.md"
    page.write_text(
        "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in ("scale-words", "scale-labelled")), "utf-8"
    )
    text = ["--text", str(TEXT), "--sentences", "210", "--searches", str(len(pool.questions)), "--folder", str(kept)]
    assert main(["--size", "20", *text, "--labelled", str(labelled), "--write", str(page)]) == 0
    rows = [line.strip("| ").split(" | ") for line in page.read_text("utf-8").splitlines() if line.startswith("| ")]
    costs, scores = rows[1:3], rows[4:]
    assert [row[1].split()[0] for row in costs] == ["Anabranch", "SQLite"]
    assert (costs[0][6], costs[0][8]) == ("1.000", "1.000")
    assert all(float(row[5]) > 0 for row in costs)
    assert float(costs[1][8]) >= 0.8  # of the same words, two kinds of BM25 find much the same
    assert [row[3:] for row in scores] == [["1.000", "1.000"]] * 2

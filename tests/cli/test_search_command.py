from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.conftest import Run, write_rows


def test_hits_for_a_person(run: Run, corpus: Path) -> None:
    result = run("search", "Who decoded the waggle dance?", "--corpus", corpus, "-k", 2)
    assert result.exit_code == 0
    first = result.stdout.splitlines()[0]
    assert first.startswith("1. bees.md, Bees > Dance")
    assert "bm25 1" in first
    assert "Karl von Frisch" in result.stdout


def test_json_is_a_list_of_passages_best_first(run: Run, corpus: Path) -> None:
    rows = json.loads(run("search", "waggle dance", "--corpus", corpus, "-k", 3, "--json").stdout)
    assert 1 <= len(rows) <= 3
    assert {"chunk_id", "doc_id", "source", "page", "score", "text"} <= set(rows[0])
    assert rows[0]["doc_id"] == rows[0]["source"] == "bees.md"
    assert "waggle" in rows[0]["text"]
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_settings_and_filters_reach_the_search(run: Run, corpus: Path) -> None:
    common = ("search", "river", "--corpus", corpus, "--json")
    only = json.loads(run(*common, "--set", 'retrievers=["bm25"]', "--set", "strategy=none").stdout)
    assert {name for row in only for name in row["ranks"]} == {"bm25"}
    narrowed = json.loads(run(*common, "--filter", '{"source": "bees.md"}').stdout)
    assert {row["source"] for row in narrowed} == {"bees.md"}


def test_an_empty_query_is_told_of_in_words_of_the_command_line(run: Run) -> None:
    result = run("search", " ")
    assert result.exit_code == 2
    assert "There is no query. For example: anabranch search" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["search", "x", "--queries", "q.jsonl", "--run", "r"],
        ["search", "--queries", "q.jsonl"],
        ["search", "x", "--run", "r"],
        ["search", " "],
        ["search", "x", "--set", "nonsense=1"],
        ["search", "x", "--filter", '{"a": {"like": 1}}'],
        ["search", "x", "-k", "0"],
        ["search", "x", "--corpus", "nowhere"],
    ],
)
def test_the_users_mistakes(run: Run, corpus: Path, arguments: list[str]) -> None:
    result = run(*arguments, *([] if "--corpus" in arguments else ["--corpus", corpus]))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.strip()
    assert "Traceback" not in result.stderr


def test_a_run_ranks_documents(run: Run, corpus: Path, tmp_path: Path) -> None:
    queries = write_rows(
        tmp_path / "q.jsonl", {"id": "q1", "text": "waggle dance"}, {"id": 2, "question": "Where is the cellar key?"}
    )
    result = run("search", "--corpus", corpus, "--queries", queries, "--run", tmp_path / "run.trec")
    assert (result.exit_code, result.stdout) == (0, "")
    columns = [line.split(" ") for line in (tmp_path / "run.trec").read_text().splitlines()]
    assert all(len(row) == 6 and row[1] == "Q0" for row in columns)
    by_query = {query: [row for row in columns if row[0] == query] for query in ("q1", "2")}
    assert by_query["q1"][0][2] == "bees.md"
    assert by_query["2"][0][2] == "cellar%20notes.txt"
    for rows in by_query.values():
        assert [row[3] for row in rows] == [str(rank) for rank in range(1, len(rows) + 1)]
        assert len({row[2] for row in rows}) == len(rows)
        assert all(float(high[4]) > float(low[4]) for high, low in pairwise(rows))


def test_a_run_is_as_deep_as_asked(run: Run, corpus: Path, tmp_path: Path) -> None:
    queries = write_rows(tmp_path / "q.jsonl", {"id": "q1", "text": "the river and the queen of the cellar"})
    run("search", "--corpus", corpus, "--queries", queries, "--run", tmp_path / "r", "--run-depth", 1)
    assert len((tmp_path / "r").read_text().splitlines()) == 1


def test_the_document_of_a_jsonl_line_goes_by_its_id(run: Run, tmp_path: Path) -> None:
    lines = write_rows(
        tmp_path / "corpus.jsonl",
        {"id": "MED-1", "title": "Otters", "text": "Otters hold hands while they sleep."},
        {"id": "MED-2", "title": "Owls", "text": "Owls turn their heads by 270 degrees."},
    )
    run("ingest", lines, "--corpus", tmp_path / "c")
    queries = write_rows(tmp_path / "q.jsonl", {"id": "1", "text": "otters asleep"})
    run("search", "--corpus", tmp_path / "c", "--queries", queries, "--run", tmp_path / "r")
    assert (tmp_path / "r").read_text().split()[2] == "MED-1"


def test_a_query_id_that_a_run_cannot_hold_is_refused_before_the_work(run: Run, corpus: Path, tmp_path: Path) -> None:
    queries = write_rows(tmp_path / "q.jsonl", {"id": "a b", "text": "x"})
    result = run("search", "--corpus", corpus, "--queries", queries, "--run", tmp_path / "r")
    assert result.exit_code == 2
    assert not (tmp_path / "r").exists()
    result = run("search", "--corpus", corpus, "--queries", queries, "--run", tmp_path / "missing" / "r")
    assert result.exit_code == 2


def test_a_query_without_words_names_itself(run: Run, corpus: Path, tmp_path: Path) -> None:
    queries = write_rows(tmp_path / "q.jsonl", {"id": "fine", "text": "bees"}, {"id": "odd", "text": "???"})
    result = run("search", "--corpus", corpus, "--queries", queries, "--run", tmp_path / "r")
    assert result.exit_code == 2
    assert "???" in result.stderr

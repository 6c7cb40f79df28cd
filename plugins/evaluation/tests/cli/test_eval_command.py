from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import MissingExtraError
from anabranch_evaluation.eval_command import LIBRARIES, require_libraries
from plugins.evaluation.tests.made import ANIMALS, ASKED, JUDGED, make_collection
from plugins.evaluation.tests.spanned import make_spanned
from tests.cli.conftest import Run, rows_of

TABLE = """\
title: Animals
metrics: [nDCG@10, RR@10]
baseline: bm25
configurations:
  bm25: {retrievers: [bm25], strategy: none}
  dense: {retrievers: [dense], strategy: none}
collections: [animals, plants]
cases:
  - {collection: animals, configuration: bm25, metric: nDCG@10, expected: 1.0}
  - {collection: animals, configuration: dense, metric: RR@10, expected: null}
  - {collection: plants, configuration: dense, metric: RR@10, expected: 0.5}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_collection(folder / "animals")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared, as a person's runs share theirs."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.yaml"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_ones_own_collection_in_one_command(run: Run, data: Path, cache: Path, tmp_path: Path) -> None:
    report, queries = tmp_path / "report.md", tmp_path / "queries.jsonl"
    result = run("eval", data / "animals", "--cache", cache, "--report", report, "--per-query", queries)
    assert result.exit_code == 0
    assert "4 documents, 4 queries, embedder" in result.stdout
    for name in ("default", "bm25", "dense", "rrf", "nDCG@10", "Success@20", "won"):
        assert name in result.stdout
    assert "| animals | **1.000** | **1.000** | **1.000** | **1.000** |" in report.read_text()
    rows = rows_of(queries)
    assert len(rows) == 4 * 4
    assert rows[0]["found"][0] == rows[0]["relevant"][0] == "otters"
    assert rows[0]["scores"]["nDCG@10"] == 1.0


def test_json_is_the_whole_report(run: Run, data: Path, cache: Path) -> None:
    result = run("eval", data / "animals", "--cache", cache, "--json", "--only", "bm25", "--only", "rrf")
    found = json.loads(result.stdout)
    (collection,) = found["collections"]
    assert collection["scores"].keys() == {"bm25", "rrf"}
    assert collection["scores"]["bm25"]["nDCG@10"] == 1.0
    assert (collection["documents"], collection["queries"], collection["comparisons"]) == (4, 4, [])
    assert found["configurations"]["bm25"].startswith('strategy="none"')


def test_a_table_as_expected(run: Run, data: Path, cache: Path, table: Path) -> None:
    result = run("eval", table, "--data", data, "--cache", cache)
    assert result.exit_code == 0
    assert "Scores: 1 ok, 1 not checked, 1 not here." in result.stdout
    assert "Missing collections: plants." in result.stdout
    assert run("eval", table, "--data", data, "--cache", cache, "--strict").exit_code == 1


def test_drift_fails_until_it_is_accepted(run: Run, data: Path, cache: Path, table: Path) -> None:
    table.write_text(TABLE.replace("expected: 1.0}", "expected: 0.9}  # once"))
    command = ("eval", table, "--data", data, "--cache", cache, "--write", "--collection", f"plants={data}/animals")
    result = run(*command)
    assert result.exit_code == 1
    assert "Scores: 2 drift, 1 not checked." in result.stdout
    assert "| animals | bm25 | nDCG@10 | 1.000 | 0.900 | 0.005 | drift |" in table.with_suffix(".md").read_text()
    assert run(*command, "--accept").exit_code == 0
    assert "metric: nDCG@10, expected: 1.0000}  # once\n" in table.read_text()
    assert run(*command).exit_code == 0
    assert "Scores: 3 ok." in run(*command).stdout


def test_a_margin_that_is_missed_fails(run: Run, data: Path, cache: Path, table: Path) -> None:
    table.write_text(TABLE + "margins:\n  - {configuration: dense, over: [bm25], by: 0.1, where: each}\n")
    result = run("eval", table, "--data", data, "--cache", cache)
    assert result.exit_code == 1
    assert "missed" in result.stdout


def test_a_configuration_with_an_embedder_of_its_own(
    run: Run, data: Path, cache: Path, table: Path, own_model: Path
) -> None:
    table.write_text(
        TABLE.replace("strategy: none}\ncoll", f"strategy: none}}\n  own: {{embedder: {own_model}}}\ncoll")
    )
    result = run("eval", table, "--data", data, "--cache", cache, "--json")
    found = json.loads(result.stdout)
    (collection,) = found["collections"]
    assert list(collection["scores"]) == ["bm25", "dense", "own"]
    assert collection["scores"]["own"]["nDCG@10"] == 1.0
    bundled, _, own = collection["embedder"].partition(" and ")
    assert bundled.startswith("onnx:all-MiniLM")
    assert own.startswith("onnx:own-model")
    assert found["configurations"]["own"].startswith('embedder="/')


def test_passages_that_are_judged_by_the_characters_of_the_evidence(
    run: Run, data: Path, cache: Path, table: Path, tmp_path: Path
) -> None:
    make_spanned(data / "spanned")
    text = TABLE.replace("RR@10]", "RR@10, TokenR@400]").replace("plants]", "spanned]\nby_passage: [spanned]")
    case = "  - {collection: spanned, configuration: bm25, metric: TokenR@400, expected: 1.0}\n"
    table.write_text(text[: text.index("  - {collection: plants")] + case)
    queries = tmp_path / "q.jsonl"
    result = run("eval", table, "--data", data, "--cache", cache, "--per-query", queries, "--write")
    assert "Scores: 2 ok, 1 not checked." in result.stdout
    animals, spanned = table.with_suffix(".md").read_text().split("## animals")[1].split("## spanned")
    assert "TokenR@400" not in animals
    assert "| configuration | nDCG@10 | RR@10 | TokenR@400 |" in spanned
    rows = {row["query"]: row for row in rows_of(queries) if row["collection"] == "spanned"}
    # What was found and what is relevant are leaves.
    assert all(set(row["relevant"]) <= set(row["found"]) for row in rows.values())
    assert rows["sleep"]["relevant"] != ["otters"]


def test_settings_given_reach_the_search(run: Run, data: Path, cache: Path, tmp_path: Path) -> None:
    queries = tmp_path / "q.jsonl"
    common = ("eval", data / "animals", "--cache", cache, "--only", "dense", "--per-query", queries)
    assert run(*common, "--set", "top_k=1").exit_code == 0
    assert {len(row["found"]) for row in rows_of(queries)} == {1}
    result = run(*common, "--set", "top_k=3")
    assert {len(row["found"]) for row in rows_of(queries)} == {3}
    assert "dense keeps 3 passages (top_k), fewer than R@20 looks at." in result.stderr


def test_the_documents_of_a_corpus_that_is_there(run: Run, corpus: Path, tmp_path: Path) -> None:
    """A person's corpus, made by `ingest` from files, and a few questions whose file is known."""
    asked = {"a": "Who decoded the waggle dance?", "b": "Where is the spare key?"}
    judged = [("a", "bees.md", 1), ("b", "cellar notes.txt", 1)]
    folder = make_collection(tmp_path / "questions", None, asked, judged)
    result = run("eval", folder, "--corpus", corpus, "--json", "--only", "default")
    (collection,) = json.loads(result.stdout)["collections"]
    assert collection["scores"]["default"]["RR@10"] == 1.0
    assert collection["documents"] == 3
    assert run("eval", folder).exit_code == 2


def test_the_corpus_of_the_environment_counts_where_a_collection_has_no_documents(
    run: Run, corpus: Path, data: Path, cache: Path, table: Path, tmp_path: Path
) -> None:
    named = {"ANABRANCH_CORPUS": str(corpus)}
    folder = make_collection(tmp_path / "questions", None, {"a": "Where is the key?"}, [("a", "cellar notes.txt", 1)])
    result = run("eval", folder, "--json", "--only", "default", env=named)
    assert json.loads(result.stdout)["collections"][0]["documents"] == 3
    own = run("eval", data / "animals", "--cache", cache, "--json", "--only", "default", env=named)
    assert json.loads(own.stdout)["collections"][0]["documents"] == 4
    # A table says the same wherever it runs.
    given = ("--data", data, "--collection", f"plants={folder}", "--cache", cache)
    assert "no corpus.jsonl" in run("eval", table, *given, env=named).stderr
    elsewhere = run("eval", folder, env={"ANABRANCH_CORPUS": "postgresql://db/notes"})
    assert "This needs a corpus in a folder" in elsewhere.stderr


ODD = {
    "punctuation": "?!... --- ???",
    "emoji": "🦦🦉🐝",
    "stop word": "the",
    "ten thousand words": "otters asleep " * 5_000,
    "many words": "otters asleep " * 500,
    "controls": "\x00\x1b[31motters\x07 asleep\x7f",
    "surrogate": "otters \ud800 asleep",
    "invisible": "\u200b\u202e\ufeff",
    "another script": "أين تنام ثعالب الماء",
}


@pytest.mark.parametrize(
    "documents",
    [{"otters": ANIMALS["otters"]}, dict.fromkeys(["otters", *(f"d{n}" for n in range(12))], ANIMALS["otters"])],
    ids=["one document", "identical documents"],
)
def test_odd_queries_and_odd_collections(run: Run, cache: Path, tmp_path: Path, documents: dict[str, str]) -> None:
    judged = [(query, "otters", 1) for query in ODD]
    folder = make_collection(tmp_path / "odd", documents, ODD, judged)
    result = run("eval", folder, "--cache", cache, "--report", tmp_path / "r.md", "--per-query", tmp_path / "q.jsonl")
    assert result.exit_code == 0
    assert f"{len(documents)} documents, {len(ODD)} queries" in result.stdout
    assert "odd: 4 queries cannot be searched for, with a score of 0, such as 'punctuation'" in result.stderr
    found = {(row["configuration"], row["query"]): row for row in rows_of(tmp_path / "q.jsonl")}
    assert found["default", "many words"]["found"]
    assert found["default", "emoji"]["scores"]["nDCG@10"] == 0.0


def test_judgements_of_unknown_documents_are_said(run: Run, data: Path, cache: Path, tmp_path: Path) -> None:
    judged = [*JUDGED, ("q1", "seals", 1), ("nobody", "owls", 1)]
    folder = make_collection(tmp_path / "partly", judged=judged)
    result = run("eval", folder, "--cache", cache, "--json", "--only", "bm25")
    (collection,) = json.loads(result.stdout)["collections"]
    assert collection["scores"]["bm25"]["R@5"] == pytest.approx((0.5 + 1 + 1 + 1) / 4)
    assert "1 of 5 relevant documents are not among the documents, such as 'seals'" in result.stderr
    assert "judgements of 1 query that is not in queries.jsonl are left out" in result.stderr


def _bad(folder: Path, **files: str) -> Path:
    make_collection(folder)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"qrels_tsv": ""}, "holds no judgement"),
        ({"qrels_tsv": "q1\towls\tyes\nq1\towls\tno\n"}, "line 2"),
        ({"qrels_tsv": "q1\towls.pdf\t1\n"}, "none of the 1 relevant"),
        ({"queries_jsonl": ""}, "holds no query"),
        ({"queries_jsonl": "{}\n"}, "line 1: it has no '_id'"),
        ({"corpus_jsonl": ""}, "holds no document"),
        ({"corpus_jsonl": '{"_id": "owls", "text": ""}\n'}, "documents that could not be taken in: 1"),
    ],
)
def test_a_collection_that_cannot_be_used(run: Run, tmp_path: Path, files: dict[str, str], said: str) -> None:
    result = run("eval", _bad(tmp_path / "bad", **files), "--cache", tmp_path / "cache")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["FOLDER", "--data", "."],
        ["FOLDER", "--accept"],
        ["FOLDER", "--baseline", "nobody"],
        ["FOLDER", "--only", "nobody"],
        ["FOLDER", "--set", "nonsense=1"],
        ["FOLDER", "--set", "corpus=x"],
        ["FOLDER", "--embedder", "nonsense"],
        ["FOLDER", "--corpus", "nowhere"],
        ["FOLDER", "--report", "nowhere/r.md"],
        ["TABLE"],
        ["TABLE", "--data", "nowhere"],
        ["TABLE", "--data", ".", "--corpus", "x"],
        ["TABLE", "--data", ".", "--write", "--only", "animals"],
        ["TABLE", "--data", ".", "--write"],
        ["TABLE", "--data", ".", "--accept", "--set", "top_k=5"],
        ["nowhere"],
        ["nowhere.yaml", "--data", "."],
    ],
)
def test_the_users_mistakes(
    run: Run, data: Path, cache: Path, table: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[Any]
) -> None:
    monkeypatch.chdir(data)
    places = {"FOLDER": data / "animals", "TABLE": table}
    result = run("eval", *(places.get(argument, argument) for argument in arguments), "--cache", cache)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.strip()
    assert table.read_text() == TABLE


def test_a_setting_in_a_table_that_cannot_be_is_named(run: Run, data: Path, cache: Path, table: Path) -> None:
    table.write_text(TABLE.replace("[dense], strategy: none", "[dense], strategy: guess"))
    result = run("eval", table, "--data", data, "--cache", cache)
    assert result.exit_code == 2
    assert "the configuration 'dense' cannot be used: The setting 'strategy' cannot be 'guess'" in result.stderr


def test_queries_are_the_same_for_all(run: Run, data: Path, cache: Path, tmp_path: Path) -> None:
    """Queries without a judgement are not counted, for nobody knows what they should find."""
    folder = make_collection(tmp_path / "more", queries={**ASKED, "q9": "Why?"})
    result = run("eval", folder, "--cache", cache, "--only", "bm25")
    assert "4 documents, 4 queries" in result.stdout
    assert "1 query without a judgement is left out ('q9')" in result.stderr


def test_the_libraries_are_installed_here() -> None:
    require_libraries()


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_said_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anabranch\[eval\]'"):
        require_libraries()

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.evaluation.made import make_collection
from tests.evaluation.spanned import make_spanned

TABLE = """\
title: Spans
kind: spans
metrics: [TokenR@200, TokenP@200, TokenIoU@50, TokenFill@200]
baseline: leaves
chunk_sizes: [512, 64, 32]
settings: {strategy: none, top_k: 6}
configurations:
  leaves: {}
  merged: {merge_threshold: 0.5}
  default: {}
  parents: {}
  roots: {}
  neighbours: {}
passages:
  leaves: {by: leaves}
  parents: {by: parents}
  roots: {by: roots}
  neighbours: {by: neighbours}
collections: [spanned]
cases:
  - {collection: spanned, configuration: leaves, metric: TokenR@200, expected: 1.0}
  - {collection: spanned, configuration: merged, metric: TokenIoU@50, expected: null}
margins:
  - {configuration: merged, over: [roots], by: 0.0, where: each}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_spanned(folder / "spanned")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "table.yaml").write_text(TABLE)
    return tmp_path / "table.yaml"


def test_a_table_of_spans_in_one_command(run: Run, data: Path, cache: Path, table: Path) -> None:
    result = run("eval", table, "--data", data, "--cache", cache, "--write", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    (collection,) = found["collections"]
    scores = collection["scores"]
    assert scores.keys() == {"leaves", "merged", "default", "parents", "roots", "neighbours"}
    assert scores["leaves"]["TokenR@200"] == 1.0
    assert 0 < scores["roots"]["TokenP@200"] < scores["leaves"]["TokenP@200"]
    assert scores["roots"]["TokenFill@200"] > scores["leaves"]["TokenFill@200"]
    assert found["configurations"]["parents"].endswith("; passages: by=parents")
    assert [check["verdict"] for check in (*found["checks"], *found["margins"])] == ["ok", "not checked", "ok"]
    # Two queries are about otters and one is about the gauge; each text counts alike.
    texts = collection["texts"]
    assert texts.keys() == {"gauge", "otters"}
    assert scores["roots"]["TokenP@200"] == pytest.approx(
        (texts["gauge"]["roots"]["TokenP@200"] + texts["otters"]["roots"]["TokenP@200"]) / 2
    )
    text = table.with_suffix(".md").read_text()
    assert "## TokenR@200 by text in spanned" in text
    assert "| configuration | gauge | otters |" in text


def test_the_same_corpus_gives_the_same_report(run: Run, data: Path, cache: Path, table: Path, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        assert run("eval", table, "--data", data, "--cache", cache, "--report", tmp_path / name).exit_code == 0
    assert (tmp_path / "a.md").read_text() == (tmp_path / "b.md").read_text()


def test_references_are_enough(run: Run, data: Path, cache: Path, table: Path, tmp_path: Path) -> None:
    """A person's own collection: no file of judgements, for the references name the documents."""
    folder = make_spanned(tmp_path / "spanned")
    (folder / "qrels.tsv").unlink()
    result = run("eval", table, "--collection", f"spanned={folder}", "--cache", cache, "--only", "leaves", "--json")
    assert result.exit_code == 0, result.stderr
    (collection,) = json.loads(result.stdout)["collections"]
    assert (collection["queries"], collection["scores"]["leaves"]["TokenR@200"]) == (3, 1.0)


def test_a_collection_without_references_is_told(run: Run, cache: Path, table: Path, tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "spanned")
    result = run("eval", table, "--collection", f"spanned={folder}", "--cache", cache)
    assert result.exit_code == 2
    assert "have no 'references'" in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: spans", "kind: documents", "'TokenR@200' is not a metric of documents"),
        ("TokenP@200", "nDCG@10", "'nDCG@10' is not a metric of spans"),
        ("TokenP@200", "TokenF@200", "there is no metric 'TokenF@200'"),
        ("  roots: {by: roots}", "  roots: {by: trees}", "passages.roots.by"),
        ("  roots: {by: roots}", "  trunks: {by: roots}", "there is no configuration 'trunks'"),
    ],
)
def test_a_table_that_cannot_be(run: Run, data: Path, table: Path, old: str, new: str, said: str) -> None:
    table.write_text(TABLE.replace(old, new))
    result = run("eval", table, "--data", data)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr

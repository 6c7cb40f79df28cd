"""A table of ways to make passages, from the collection to the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from anabranch.agent.nodes.settings import Context
from anabranch.errors import CollectionError
from evals.merging.__main__ import TABLE, MergingTable, interval, main
from plugins.evaluation.tests.made import make_collection
from plugins.evaluation.tests.spanned import make_spanned
from tests.shared_fixtures import REPOSITORY

SMALL = """\
title: Spans
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
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "table.yaml").write_text(SMALL)
    return tmp_path / "table.yaml"


@pytest.fixture(scope="module")
def spanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_spanned(tmp_path_factory.mktemp("data") / "spanned")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def _rows(text: str, title: str) -> dict[str, list[str]]:
    lines = text.split(title)[1].split("\n## ", maxsplit=1)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {name: cells for name, *cells in rows}


def test_a_table_in_one_command(spanned: Path, table: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for _ in range(2):
        main([str(spanned), "--table", str(table), "--cache", str(cache)])
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    scores = _rows(texts[0], "## spanned\n")
    names = scores.pop("configuration")
    assert scores.keys() - {"---"} == {"leaves", "merged", "default", "parents", "roots", "neighbours"}
    recall, precision, fill = (names.index(f"{name}@200") for name in ("TokenR", "TokenP", "TokenFill"))
    assert float(scores["leaves"][recall]) == 1.0
    assert 0 < float(scores["roots"][precision]) < float(scores["leaves"][precision])
    assert float(scores["roots"][fill]) > float(scores["leaves"][fill])
    # Two queries are about otters and one is about the gauge; each text counts alike.
    by_text = _rows(texts[0], "## TokenR@200 by text\n")
    assert by_text["configuration"] == ["gauge", "otters"]
    assert float(scores["roots"][recall]) == pytest.approx(sum(map(float, by_text["roots"])) / 2, abs=0.001)
    assert len(_rows(texts[0], "against leaves\n")) == 7


def test_references_are_enough(table: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person's own collection: no file of judgements, for the references name the documents."""
    folder = make_spanned(tmp_path / "spanned")
    (folder / "qrels.tsv").unlink()
    main([str(folder), "--table", str(table), "--cache", str(cache)])
    assert "2 documents, 3 queries" in capsys.readouterr().out


def test_a_collection_without_references_is_told(table: Path, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="have no 'references'"):
        main([str(make_collection(tmp_path / "c")), "--table", str(table), "--cache", str(cache)])


@pytest.mark.parametrize("change", [("roots: {by: roots}", "roots: {by: trees}"), ("title: Spans", "kind: spans")])
def test_a_table_that_cannot_be(table: Path, tmp_path: Path, change: tuple[str, str]) -> None:
    table.write_text(SMALL.replace(*change))
    with pytest.raises(ValidationError):
        main([str(tmp_path), "--table", str(table)])


def test_the_table_is_valid_with_the_settings_of_today() -> None:
    table = MergingTable.model_validate(yaml.safe_load(TABLE.read_text("utf-8")))
    assert table.baseline in table.configurations
    assert table.passages.keys() <= table.configurations.keys()
    for own in table.configurations.values():
        Context(**table.settings, **own)


def test_the_table_in_the_guide_can_be_run() -> None:
    guide = (REPOSITORY / "docs" / "evaluation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", guide, flags=re.MULTILINE | re.DOTALL)
    (block,) = [each for each in blocks if "passages:" in each]
    assert MergingTable.model_validate(yaml.safe_load(block)).configurations.keys() == {"leaves", "merged", "parents"}


def test_an_interval_over_texts_is_of_the_mean_of_their_means() -> None:
    scores = {f"a{n}": 1.0 for n in range(50)} | {f"b{n}": float(n % 2) for n in range(4)}
    low, high = interval(scores, {query: query[0] for query in scores})
    assert 0.5 <= low < 0.75 < high <= 1.0

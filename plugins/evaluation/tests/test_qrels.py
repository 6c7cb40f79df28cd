from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch_evaluation.qrels import Qrels, find_qrels, read_qrels


def read(tmp_path: Path, text: str) -> Qrels:
    path = tmp_path / "qrels.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    return read_qrels(path)


EXPECTED = {"q1": {"d1": 1, "d 2": 0}, "q2": {"d1": 2}}


@pytest.mark.parametrize(
    "text",
    [
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td 2\t0\nq2\td1\t2\n",
        "q1\td1\t1\nq1\td 2\t0\nq2\td1\t2",
        "\ufeffq1\td1\t1\r\nq1\td 2\t0\r\n\r\nq2\td1\t2.0\r\n",
        "q1\t0\td1\t1\nq1\t0\td 2\t0\nq2\t0\td1\t2\n",
        "qid iter docid rel\nq1 0 d1 1\nq1\t0\td 2\t0\nq2 0 d1 2\n",
    ],
    ids=["beir", "no header", "windows", "trec", "spaces"],
)
def test_the_forms_that_judgements_come_in(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == EXPECTED


def test_a_numeric_first_line_is_a_judgement(tmp_path: Path) -> None:
    assert read(tmp_path, "1\t2\t3\n") == {"1": {"2": 3}}


def test_the_same_judgement_twice_is_one_and_a_negative_one_is_kept(tmp_path: Path) -> None:
    assert read(tmp_path, "q\td\t1\nq\td\t1\nq\te\t-2\n") == {"q": {"d": 1, "e": -2}}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q\td", "2 columns"),
        ("q", "1 columns"),
        ("a\tb\tc\td\t1", "5 columns"),
        ("\td\t1", "columns instead"),
        ("q\td\tyes", "'yes' is not a whole number"),
        ("q\td\t0.5", "'0.5' is not a whole number"),
        ("q\td\t1e3", "not a whole number"),
        ("q\td\t99999999999999999999", "beyond"),
        ("q1\td1\t2", "on an earlier line"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(CollectionError, match=said) as caught:
        read(tmp_path, f"q1\td1\t1\n{line}\n")
    assert "line 2" in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n", "query-id\tcorpus-id\tscore\n"])
def test_a_file_without_judgements_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CollectionError, match="holds no judgement"):
        read(tmp_path, text)


def test_one_file_or_a_folder_of_splits(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="no judgements"):
        find_qrels(tmp_path)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "dev.tsv").touch()
    with pytest.raises(CollectionError, match="There is dev: name one with --split"):
        find_qrels(tmp_path)
    assert find_qrels(tmp_path, "dev") == tmp_path / "qrels" / "dev.tsv"
    (tmp_path / "qrels.tsv").touch()
    assert find_qrels(tmp_path, "dev") == tmp_path / "qrels.tsv"

"""Search on mixed folders: a union by access tags is what a corpus of these collections alone would be."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch_evaluation.collection import read_collection
from evals.mixed import __main__ as mixed

RIVER = {"1": "The weir was built in 1848 by Ida Marrow.", "2": "Herons nest at Lower Cray."}
MILL = {"1": "The mill was built in 1790 of oak.", "2": "The miller keeps bees."}
BOOK = "Chapter one.\n\nThe bridge was opened by Queen Adelaide in June.\n"


def collection(folder: Path, texts: dict[str, str], question: str) -> None:
    folder.mkdir(parents=True)
    rows = [json.dumps({"_id": key, "title": "", "text": text}) for key, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": question}), encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n", encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    collection(tmp_path / "river", RIVER, "Who built the weir?")
    collection(tmp_path / "mill", MILL, "When was the mill built?")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "book.txt").write_text(BOOK, encoding="utf-8")
    questions = tmp_path / "questions.jsonl"
    row = {"id": "r", "doc": "book", "text": "Who opened the bridge?", "evidence_regex": "Adelaide"}
    questions.write_text(json.dumps(row), encoding="utf-8")
    monkeypatch.setattr(mixed, "QUESTIONS", questions)
    return tmp_path


def test_the_page_has_each_collection_alone_beside_one_other_and_beside_all(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", str(data), "--documents", str(data / "documents"), "--home", str(data / "home")]
    given = ["mixed", *options, "--collections", "river,mill", "--configurations", "bm25,rrf,default"]
    monkeypatch.setattr("sys.argv", given)
    mixed.main()
    page = capsys.readouterr().out
    assert page.count("| river | 1 |") == page.count("| mill | 1 |") == page.count("| reader | 1 |") == 3
    assert "| reader | 1 | 1.000 | 1.000 | 1.000 |" in page
    assert "## Each collection beside all others" in page
    assert "| default | +0.000" in page


async def test_a_union_is_what_a_corpus_of_these_alone_gives(data: Path) -> None:
    collections = {name: read_collection(data / name) for name in ("river", "mill")}
    together, alone = data / "together", data / "alone"
    await asyncio.to_thread(ingest, mixed.written(collections, data / "all"), together)
    await asyncio.to_thread(ingest, mixed.written({"river": collections["river"]}, data / "one"), alone)
    member = mixed.Member("river", {"q": "Who built the weir?"}, {"q": {"river/2": 1}}, "RR@10")

    async def found(corpus: Path) -> Any:
        return (await mixed.asked_of(member, ("river",), corpus, ["bm25", "default"], {})).scores

    assert await found(together) == await found(alone)
    # The weir's own passage is first, so the herons are second of two.
    assert (await found(together))["default"] == {"q": 0.5}

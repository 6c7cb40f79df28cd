from __future__ import annotations

import re
from pathlib import Path

import pytest

from anabranch.errors import CollectionError, CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch_evaluation.collection import judge_by_evidence, read_collection
from anabranch_evaluation.evidence_patterns import NOWHERE, judge_passages, whole_documents
from anabranch_evaluation.queries import gold_of
from plugins.evaluation.tests.made import write_lines

NOVEL = "\n\n".join(
    f"Chapter {n} tells how the heron number {n} came to the weir and left it again." for n in range(40)
)
QUESTIONS = [
    {"id": "q1", "doc": "novel", "text": "Which heron came in chapter 31?", "evidence_regex": "heron number 31\\b"},
    {"id": "q2", "doc": "novel", "text": "Where is the otter?", "evidence_regex": "the otter"},
    {"id": "q3", "doc": "report", "text": "What was the loss?", "evidence_regex": "loss"},
    {"id": "q4", "doc": "novel", "text": "Who won the cup?", "answer": None, "unanswerable": True},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    (folder / "Novel of 1925.txt").write_text(NOVEL, encoding="utf-8")
    write_lines(folder / "questions.jsonl", QUESTIONS)
    return folder


@pytest.fixture(scope="module")
def corpus(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("corpus") / "corpus"
    ingest([folder / "Novel of 1925.txt"], place)
    return place


def test_every_leaf_with_some_of_the_evidence_is_relevant(corpus: Path) -> None:
    (document,) = whole_documents(corpus)
    found = judge_passages({"one": gold_of(QUESTIONS[0]), "all": gold_of({"evidence_regex": "(?s).+"})}, corpus)
    (leaf,) = found.qrels["one"]
    start = document.starts[document.leaves.index(leaf)]
    assert start <= document.text.index("heron number 31") < start + 800
    assert set(found.qrels["all"]) == set(document.leaves)


def test_a_match_of_nothing_is_no_evidence(corpus: Path) -> None:
    found = judge_passages({"q": gold_of({"evidence_regex": "x*"})}, corpus)
    assert found.qrels == {"q": {NOWHERE: 1}}
    assert found.nowhere == {"q"}


def test_evidence_over_the_end_of_a_leaf_makes_both_relevant(corpus: Path) -> None:
    (document,) = whole_documents(corpus)
    end = document.starts[1]
    words = document.text[end - 12 : end + 12]
    found = judge_passages({"q": gold_of({"evidence_regex": re.escape(words)})}, corpus)
    assert set(found.qrels["q"]) == {document.leaves[0], document.leaves[1]}


def test_a_folder_of_documents_and_questions_is_a_collection(folder: Path, corpus: Path) -> None:
    collection = read_collection(folder, "asked")
    assert [path.name for path in collection.sources] == ["Novel of 1925.txt"]
    assert set(collection.queries) == {"q1", "q2", "q3"}
    prepared = judge_by_evidence(collection, corpus)
    assert set(prepared.queries) == {"q1", "q2"}
    said = "; ".join(prepared.remarks)
    assert "1 query without evidence is left out ('q4')" in said
    assert "1 query about documents that are not here is left out ('q3')" in said
    assert "1 query whose evidence is in no passage can only miss ('q2')" in said


def test_questions_about_other_documents_are_an_error(tmp_path: Path, corpus: Path) -> None:
    write_lines(tmp_path / "questions.jsonl", [QUESTIONS[2]])
    with pytest.raises(CollectionError, match="'report'"):
        judge_by_evidence(read_collection(tmp_path), corpus)


def test_questions_without_any_evidence_are_an_error(tmp_path: Path) -> None:
    write_lines(tmp_path / "questions.jsonl", [QUESTIONS[3]])
    with pytest.raises(CollectionError, match="has evidence"):
        read_collection(tmp_path)


TEXTS = {
    "a.txt": "\n\n".join(f"Chapter {n} tells how heron number {n} came to the weir and left it." for n in range(30)),
    "b.txt": "One line.",
}


def test_a_whole_document_is_what_its_leaves_tile(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ingest([tmp_path / name for name in TEXTS], tmp_path / "corpus", access=["family"])
    found = {document.source: document for document in whole_documents(tmp_path / "corpus")}
    assert {source: document.text for source, document in found.items()} == TEXTS
    assert len(found["a.txt"].leaves) == len(found["a.txt"].starts) > 3
    assert found["a.txt"].starts[0] == 0
    assert list(found["a.txt"].starts) == sorted(found["a.txt"].starts)


def test_without_a_corpus_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        list(whole_documents(tmp_path / "nowhere"))

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch_evaluation.collection import check_judgements, read_collection
from plugins.evaluation.tests.made import ANIMALS, ASKED, JUDGED, make_collection


def test_a_collection_that_fits_has_no_remarks(tmp_path: Path) -> None:
    collection = read_collection(make_collection(tmp_path / "animals"))
    assert collection.name == "animals"
    assert collection.queries == ASKED
    assert collection.qrels["q2"] == {"owls": 1}
    assert collection.corpus == tmp_path / "animals" / "corpus.jsonl"
    assert collection.remarks == ()
    assert check_judgements(collection, ANIMALS.keys()) is collection


def test_what_cannot_be_used_is_left_out_and_counted(tmp_path: Path) -> None:
    queries = {**ASKED, "unjudged": "Why?", "hopeless": "What?"}
    judged = [*JUDGED, ("gone", "owls", 1), ("lost", "owls", 1), ("hopeless", "owls", 0)]
    collection = read_collection(make_collection(tmp_path, queries=queries, judged=judged))
    assert collection.queries == ASKED
    assert collection.qrels.keys() == ASKED.keys()
    assert collection.remarks == (
        "1 query without a judgement is left out ('unjudged')",
        "judgements of 2 queries that are not in queries.jsonl are left out ('gone', 'lost')",
        "1 query without a relevant document is left out ('hopeless')",
    )


def test_documents_that_the_judgements_name_and_nobody_has_count_as_not_found(tmp_path: Path) -> None:
    judged = [*JUDGED, ("q1", "seals", 1), ("q2", "seals", 2), ("q3", "eels", 0)]
    collection = check_judgements(read_collection(make_collection(tmp_path, judged=judged)), ANIMALS.keys())
    assert collection.qrels["q1"] == {"otters": 1, "seals": 1}
    assert collection.remarks == (
        "1 of 5 relevant documents are not among the documents, such as 'seals': they count as not found, in 2 queries",
    )


def test_judgements_of_other_documents_altogether_are_refused(tmp_path: Path) -> None:
    judged = [(query, f"{document}.txt", 1) for query, document, _ in JUDGED]
    collection = read_collection(make_collection(tmp_path, judged=judged))
    with pytest.raises(CollectionError, match=r"Documents are 'bees', .* judgements are of 'bees\.txt'"):
        check_judgements(collection, ANIMALS.keys())


def test_judgements_of_other_queries_altogether_are_refused(tmp_path: Path) -> None:
    make_collection(tmp_path, judged=[("1", "owls", 1)])
    with pytest.raises(
        CollectionError, match=r"name no query .* Queries are 'q1', 'q2', 'q3', \.\.\.; judgements .*'1'"
    ):
        read_collection(tmp_path)


def test_ids_are_written_as_the_corpus_writes_them(tmp_path: Path) -> None:
    """The corpus cleans what it takes in: NFC, nothing invisible."""
    judged = [("q1", " cafe\u0301\u200b ", 1)]
    collection = read_collection(make_collection(tmp_path, judged=judged))
    assert collection.qrels == {"q1": {"caf\u00e9": 1}}


def test_a_folder_that_is_none_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="A collection is a folder with"):
        read_collection(tmp_path / "nowhere")
    make_collection(tmp_path / "animals")
    with pytest.raises(CollectionError, match="It holds the collections animals"):
        read_collection(tmp_path)


def test_documents_may_be_elsewhere(tmp_path: Path) -> None:
    assert read_collection(make_collection(tmp_path, documents=None)).corpus is None

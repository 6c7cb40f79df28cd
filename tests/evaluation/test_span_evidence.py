from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch.evaluation.span_evidence import Texts, with_spans
from anabranch.store.corpus_handles import open_now
from tests.evaluation.made import make_collection
from tests.evaluation.spanned import make_spanned, prepared


def test_evidence_is_found_in_the_corpus(tmp_path: Path) -> None:
    made = prepared(make_spanned(tmp_path / "c"))
    tokens = open_now(made.corpus).embedder
    found, evidence = with_spans(made, tokens)
    assert found.collection.remarks == ()
    assert evidence.texts == {"high": "gauge", "sleep": "otters", "eat": "otters"}
    texts = Texts(made.corpus, tokens)
    said = {
        query: [texts.text(document)[start:end] for document, start, end in spans]
        for query, spans in evidence.spans.items()
    }
    assert said == {
        "high": ["In year 31 the water stood 31 hands high"],
        "sleep": ["Otters hold hands while they sleep."],
        "eat": ["They eat crabs.", "Owls do not."],
    }
    (sleep,) = evidence.spans["sleep"]
    assert sleep.start == texts.text(sleep.document).rindex("Otters hold")
    first, after = evidence.places.between(sleep)
    assert after - first == tokens.count(["Otters hold hands while they sleep."])[0]


def test_what_cannot_be_found_is_counted_and_named(tmp_path: Path) -> None:
    nowhere = {"id": "x", "text": "What?", "corpus_id": "otters", "references": [{"content": "Seals bark."}]}
    elsewhere = {"id": "y", "text": "What?", "corpus_id": "seals", "references": [{"content": "They eat crabs."}]}
    moved = {
        "id": "z",
        "text": "What?",
        "corpus_id": "otters",
        "references": [{"content": "They eat crabs.", "start_index": 1, "end_index": 15}],
    }
    made = prepared(
        make_spanned(tmp_path / "c", nowhere, elsewhere, moved, {"id": "w", "text": "?", "corpus_id": "gauge"})
    )
    found, evidence = with_spans(made, open_now(made.corpus).embedder)
    assert list(evidence.spans) == list(found.collection.queries) == ["high", "sleep", "eat", "z"]
    assert set(found.collection.qrels) == set(evidence.spans)
    assert list(found.collection.remarks[-3:]) == [
        "references that are not in their documents, and do not count: 2 of 7, as 'Seals bark.'",
        "references that are not where their numbers say, and were taken where their words are: 1",
        "queries without evidence in a document, left out: 3",
    ]


def test_a_collection_without_references_is_refused(tmp_path: Path) -> None:
    made = prepared(make_collection(tmp_path / "c"))
    with pytest.raises(CollectionError, match="no 'references'"):
        with_spans(made, open_now(made.corpus).embedder)


def test_a_collection_whose_evidence_is_nowhere_is_refused(tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "c")
    line = '{"_id": "q1", "text": "How?", "corpus_id": "otters", "references": [{"content": "Seals bark."}]}\n'
    (folder / "queries.jsonl").write_text(line)
    made = prepared(folder)
    with pytest.raises(CollectionError, match="None of the references"):
        with_spans(made, open_now(made.corpus).embedder)


def test_a_document_that_is_not_there_has_no_text(tmp_path: Path) -> None:
    made = prepared(make_spanned(tmp_path / "c"))
    texts = Texts(made.corpus, open_now(made.corpus).embedder)
    assert (texts.ids("seals"), texts.text("seals")) == ([], "")

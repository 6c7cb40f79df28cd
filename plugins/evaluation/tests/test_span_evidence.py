from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import CollectionError
from anabranch.readers.plain_text import paragraphs
from anabranch.store.corpus_handles import open_folder
from anabranch.text.normalization import clean
from anabranch_evaluation.references import Reference
from anabranch_evaluation.span_evidence import Letters, Texts, letters_before, located, with_spans
from plugins.evaluation.tests.made import make_collection
from plugins.evaluation.tests.spanned import make_spanned, prepared


def test_evidence_is_found_in_the_corpus(tmp_path: Path) -> None:
    made = prepared(make_spanned(tmp_path / "c"))
    found, evidence = with_spans(made.collection, made.corpus)
    assert found.remarks == ()
    assert evidence.texts == {"high": "gauge", "sleep": "otters", "eat": "otters"}
    texts = evidence.places
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
    assert after - first == open_folder(made.corpus).embedder.count(["Otters hold hands while they sleep."])[0]
    # What is relevant are the leaves that hold some of it.
    relevant = {query: [texts.leaf(leaf) for leaf in leaves] for query, leaves in found.qrels.items()}
    assert relevant.keys() == evidence.spans.keys()
    for query, leaves in relevant.items():
        words = "".join(texts.text(document)[start:end] for document, start, end in leaves)
        assert all(each in words for each in said[query])
        assert len(leaves) <= 2


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
    found, evidence = with_spans(made.collection, made.corpus)
    assert list(evidence.spans) == list(found.queries) == ["high", "sleep", "eat", "z"]
    assert set(found.qrels) == set(evidence.spans)
    assert list(found.remarks[-3:]) == [
        "references that are not in their documents, and do not count: 2 of 7, as 'Seals bark.'",
        "references that are not where their numbers say, and were taken where their words are: 1",
        "queries without evidence in a document, left out: 3",
    ]


def test_a_collection_without_references_is_refused(tmp_path: Path) -> None:
    made = prepared(make_collection(tmp_path / "c"))
    with pytest.raises(CollectionError, match="no 'references'"):
        with_spans(made.collection, made.corpus)


def test_a_collection_whose_evidence_is_nowhere_is_refused(tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "c")
    line = '{"_id": "q1", "text": "How?", "corpus_id": "otters", "references": [{"content": "Seals bark."}]}\n'
    (folder / "queries.jsonl").write_text(line)
    made = prepared(folder)
    with pytest.raises(CollectionError, match="None of the references"):
        with_spans(made.collection, made.corpus)


def test_a_document_that_is_not_there_has_no_id(tmp_path: Path) -> None:
    made = prepared(make_spanned(tmp_path / "c"))
    texts = Texts(made.corpus)
    assert texts.ids("seals") == []


ORIGINAL = "\n\n  First line.  \n\n\n\nThe \u200bofficer\u00ad came.\r\n\r\nThe o\ufb03cer came. The end.\n"


def ingested(text: str) -> str:
    """What a corpus holds of a text."""
    return "\n\n".join(paragraphs(clean(text)))


def test_evidence_is_found_where_reading_moved_it() -> None:
    start = ORIGINAL.index("The \u200b")
    one = Reference("d", start, start + len("The \u200bofficer\u00ad came."), "")
    text = ingested(ORIGINAL)
    ((_, place, off),) = located([one], text, ORIGINAL)
    assert place is not None
    assert text[slice(*place)] == "The officer came."
    assert (place[0], off) == (text.index("The"), 0)


def test_of_two_equal_places_the_one_that_is_meant() -> None:
    start = ORIGINAL.index("The o\ufb03cer")
    one = Reference("d", start, start + len("The o\ufb03cer came."), "The officer came.")
    text = ingested(ORIGINAL)
    ((_, place, off),) = located([one], text, ORIGINAL)
    assert place is not None
    assert (place[0], off) == (text.rindex("The officer"), 0)


def test_words_win_over_wrong_numbers_and_it_is_said() -> None:
    ((_, place, off),) = located([Reference("d", 0, 8, "The end.")], ingested(ORIGINAL), ORIGINAL)
    assert place is not None
    assert ingested(ORIGINAL)[slice(*place)] == "The end."
    assert off > 0


def test_words_without_numbers() -> None:
    ((_, place, off),) = located([Reference("d", None, None, "first\nline. The".title())], "First Line. The", "")
    assert (place, off) == ((0, 15), 0)


def test_what_is_not_there_is_not_found() -> None:
    rows = [Reference("d", 0, 4, "nowhere"), Reference("d", 0, 1, ""), Reference("d", 900, 950, "")]
    assert [place for _, place, _ in located(rows, ingested(ORIGINAL), ORIGINAL)] == [None, None, None]


def test_letters_are_counted_once_over_the_text() -> None:
    assert letters_before("a b\n\ufb01 c", [0, 1, 5, 7, 99]) == {0: 0, 1: 1, 5: 4, 7: 5, 99: 5}
    assert Letters("a a").nearest("a", 1) == (2, 3, 0)


TEXTS = st.text(alphabet=st.sampled_from("abc é\u00e9 \n\t\u200b\u00ad\ufb01e\u0301.\r"), min_size=1, max_size=60)


@given(TEXTS, st.data())
def test_every_span_of_a_text_is_found_after_reading(original: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(original) - 1))
    end = data.draw(st.integers(start + 1, len(original)))
    text = ingested(original)
    ((_, place, _),) = located([Reference("d", start, end, "")], text, original)
    squashed = "".join(clean(original[start:end]).split())
    # A mark that joins the letter before it is another letter alone; such a cut through a letter names no words.
    if squashed and not _joins(original[start:]) and not _joins(original[end:]):
        assert place is not None
        assert "".join(text[slice(*place)].split()) == squashed


def _joins(text: str) -> bool:
    return text.lstrip("\u200b\u00ad").startswith("\u0301")

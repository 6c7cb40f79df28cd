"""Terms on disk, found by bisection."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.store.index.postings import Vocabulary, encode_term, write_terms


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.text(min_size=1, max_size=6).map(encode_term)),
    st.lists(st.text(max_size=6).map(encode_term), max_size=4),
)
def test_every_term_is_found_and_no_other(terms: set[bytes], others: list[bytes]) -> None:
    ordered = sorted(terms)
    with TemporaryDirectory() as folder:
        write_terms(Path(folder), ordered)
        vocabulary = Vocabulary(Path(folder))
        assert list(vocabulary) == ordered
        assert [vocabulary[number] for number in range(len(vocabulary))] == ordered
        wanted = [*ordered, *others]
        expected = [ordered.index(term) if term in terms else None for term in wanted]
        assert [vocabulary.find(term) for term in wanted] == expected

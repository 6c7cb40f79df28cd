"""Terms on disk, found by bisection."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.corpus.vocabulary import Vocabulary, write_vocabulary


@settings(max_examples=60, deadline=None)
@given(st.sets(st.text(min_size=1, max_size=6)), st.text(max_size=6))
def test_every_term_is_found_and_no_other(terms: set[str], other: str) -> None:
    given_terms = sorted(terms, reverse=True)
    with TemporaryDirectory() as folder:
        order = write_vocabulary(Path(folder), given_terms)
        vocabulary = Vocabulary(Path(folder))
        assert len(vocabulary) == len(terms)
        for number, place in enumerate(order):
            assert vocabulary.find(given_terms[place]) == number
        assert (vocabulary.find(other) is None) == (other not in terms)

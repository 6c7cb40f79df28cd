"""Sentences of real text."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.at_scale.prose import LONGEST, SHORTEST, sentences

DOCS = ROOT / "docs"


def test_a_sample_is_the_same_whatever_the_order_of_the_files() -> None:
    pages = sorted(DOCS.glob("*.md"))
    forwards, backwards = sentences(pages, 250, seed=1), sentences(pages[::-1], 250, seed=1)
    assert forwards == backwards
    assert len(set(forwards)) == 250


def test_a_smaller_sample_is_part_of_a_larger_one_and_another_seed_draws_another() -> None:
    small, large = sentences([DOCS], 200, seed=1), sentences([DOCS], 400, seed=1)
    assert small == large[:200]
    assert set(sentences([DOCS], 200, seed=2)) != set(small)


def test_sentences_have_words_and_stand_in_the_text() -> None:
    text = " ".join(" ".join(page.read_text("utf-8").split()) for page in sorted(DOCS.rglob("*.md")))
    found = sentences([DOCS], 300, seed=1)
    assert all(SHORTEST <= len(sentence) <= LONGEST and len(sentence.split()) >= 5 for sentence in found)
    # Markdown is read, not quoted: what has no mark-up stands there as it was.
    assert sum(sentence in text for sentence in found) > 100


def test_too_little_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("There is one sentence here, and it is a short one.", "utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"not a PDF")
    with pytest.raises(ValueError, match="hold 1 sentences"):
        sentences([tmp_path], 100, seed=1)

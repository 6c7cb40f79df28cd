"""Counts of two tokenizers of hosted models, made once with tiktoken 0.14, against what is reserved for a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.synthesis.token_bound import MARGIN, bound_tokens

COUNTED = json.loads(Path(__file__).with_name("chat_tokens.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return WordPieces()


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: row["name"])
def test_no_chat_model_counts_more(row: dict[str, str | int], pieces: WordPieces) -> None:
    text = str(row["text"])
    assert bound_tokens(text, pieces.count([text])[0]) >= max(int(row["cl100k"]), int(row["o200k"]))


def test_the_corpus_alone_would_count_too_little(pieces: WordPieces) -> None:
    short = [row["name"] for row in COUNTED if pieces.count([row["text"]])[0] < max(row["cl100k"], row["o200k"])]
    assert {"base64", "emoji", "UDHR, Thai", "UDHR, Armenian"} <= set(short)


def test_prose_is_not_taken_for_twice_its_length(pieces: WordPieces) -> None:
    prose = next(row for row in COUNTED if row["name"] == "novel, later")
    assert bound_tokens(prose["text"], pieces.count([prose["text"]])[0]) <= 1.5 * prose["cl100k"]


@given(st.text(), st.integers(0, 10_000))
def test_it_is_never_below_the_margin_nor_negative(text: str, tokens: int) -> None:
    assert bound_tokens(text, tokens) >= MARGIN * tokens


@given(st.text(min_size=1), st.text(min_size=1), st.integers(0, 100))
def test_what_is_not_ascii_counts_by_its_bytes(text: str, more: str, tokens: int) -> None:
    assert bound_tokens(text + more, tokens) >= sum(
        len(c.encode("utf-8", "replace")) for c in text + more if not c.isascii()
    )

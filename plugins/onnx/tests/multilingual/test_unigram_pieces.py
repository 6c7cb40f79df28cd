"""The tokenizer that is made for each batch, against one of all pieces."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import Unigram

from anabranch.models.wordpiece_tokenizer import count_scripts
from anabranch_onnx.multilingual import unigram_pieces
from anabranch_onnx.multilingual.unigram_pieces import UnigramPieces, UnigramVocabulary
from plugins.onnx.tests.multilingual.tiny_weights import BEGIN, END, PIECES, SCORES, UNKNOWN

SPECIAL = 4


def small(limit: int = 512) -> UnigramPieces:
    numbers = {piece: number for number, piece in enumerate(PIECES) if number >= SPECIAL}
    return UnigramPieces(UnigramVocabulary(numbers, SCORES, BEGIN, END, UNKNOWN, count_scripts(PIECES)), limit=limit)


def whole() -> Tokenizer:
    # What stands for the special ones here cannot be spelt either.
    spelt = [f"\x02{piece}" if number < SPECIAL else piece for number, piece in enumerate(PIECES)]
    pairs = list(zip(spelt, map(float, SCORES), strict=True))
    tokenizer = Tokenizer(Unigram(pairs, unk_id=UNKNOWN, byte_fallback=False))
    tokenizer.normalizer, tokenizer.pre_tokenizer = unigram_pieces._normalizer(), unigram_pieces._splitter()
    return tokenizer


WHOLE = whole()
texts = st.lists(st.text(alphabet="weirmlston quypag:河流мельمطحنة \n\u200b\x01▁é\ud800") | st.text(), max_size=4)


@given(texts)
def test_tokens_are_those_of_all_pieces(many: list[str]) -> None:
    expected = WHOLE.encode_batch([unigram_pieces.encodable(text) for text in many], add_special_tokens=False)
    assert [one.ids for one in small().encode(many)] == [[BEGIN, *one.ids, END] for one in expected]
    assert small().count(many) == [len(one.ids) for one in expected]
    assert [small().offsets(text) for text in many] == [one.offsets for one in expected]


def test_a_text_is_cut_to_the_limit() -> None:
    (encoded,) = small(limit=5).encode(["weir mill stone weir mill"])
    assert len(encoded) == 5
    assert encoded.special_tokens_mask == [1, 0, 0, 0, 1]
    assert (encoded.ids[0], encoded.ids[-1]) == (BEGIN, END)


def test_a_text_cannot_spell_a_special_token() -> None:
    (encoded,) = small().encode(["</s> <s> <pad> <unk> weir"])
    assert not {BEGIN, END, PIECES.index("<pad>")} & set(encoded.ids[1:-1])


def test_what_no_text_shows_is_removed() -> None:
    assert small().encode(["we\x01ir\u200bmill"])[0].ids == small().encode(["weir mill"])[0].ids


def test_no_texts_give_no_tokens() -> None:
    assert small().encode([]) == []
    assert small().count([""]) == [0]


def test_scripts_are_told_by_the_counts() -> None:
    scripts = {"Arabic": 200, "Latin": 199, "Han": 1_999}
    pieces = UnigramPieces(UnigramVocabulary({"a": 0}, np.zeros(1, np.float32), 0, 0, 0, scripts), limit=8)
    assert [pieces.reads(script) for script in ("Arabic", "Latin", "Han", "Thai")] == [True, False, False, False]

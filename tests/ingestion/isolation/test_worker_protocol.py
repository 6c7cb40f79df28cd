"""What is sent is what arrives."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.errors import ReadingError
from anabranch.ingestion.isolation import worker_protocol as wire
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument
from anabranch.ingestion.isolation.worker_protocol import Frame, Tag, receive, send
from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.readers.document import Block, Document, Failure, ReadOptions

ANY = st.text(st.characters(codec=None), max_size=30)  # lone surrogates too
WORDS = st.text("ab É漢\U0001f600\udc80.", min_size=1, max_size=40).filter(str.strip)
PAGE = st.none() | st.integers(1, 99)
BLOCKS = st.builds(Block, WORDS, PAGE, st.lists(ANY, max_size=3).map(tuple), st.booleans())
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY
METADATA = st.dictionaries(
    ANY, st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3), max_leaves=5), max_size=3
)
TAGS = st.lists(ANY, max_size=3).map(tuple)
DOCUMENTS = st.builds(Document, ANY, ANY, st.lists(BLOCKS, max_size=5).map(tuple), METADATA, TAGS, ANY, TAGS)


@pytest.fixture(scope="module")
def tokens() -> WordPieces:
    return WordPieces()


@given(document=DOCUMENTS, is_cut=st.booleans())
def test_documents_and_their_trees_arrive_as_they_were(tokens: WordPieces, document: Document, is_cut: bool) -> None:
    part = ChunkedDocument(document, grow(document, tokens, (64, 32, 16)) if is_cut else None)
    assert wire.parse_part(wire.part_frame(part)) == part


def test_every_field_of_a_document_travels() -> None:
    filled = Document("s", "t", (Block("b", 1, ("h",), True, True),), {"m": 1}, ("a",), "k", ("n",))
    for field in [*fields(Document), *fields(Block)]:
        owner = filled if field in fields(Document) else filled.blocks[0]
        assert getattr(owner, field.name), f"give {field.name} a value above"
    assert wire.parse_part(wire.part_frame(ChunkedDocument(filled))) == ChunkedDocument(filled)


def test_metadata_arrives_as_the_corpus_keeps_it() -> None:
    document = Document("s", "t", (), {"when": Path("x"), "bad": float("nan"), "pair": (1, 2)})
    part: Any = wire.parse_part(wire.part_frame(ChunkedDocument(document)))
    assert part.document.metadata == {"when": "x", "bad": None, "pair": [1, 2]}


@given(st.builds(Failure, ANY, ANY, ANY))
def test_failures_arrive(failure: Failure) -> None:
    assert wire.parse_part(wire.part_frame(failure)) == failure


@given(ANY, ANY, ANY, st.booleans())
def test_errors_arrive(message: str, reason: str, hint: str, leaves: bool) -> None:
    frame = wire.error_frame(ReadingError(message, reason=reason, hint=hint), leaves=leaves)
    assert (wire.reason(frame), wire.leaves(frame), frame.is_last) == (reason, leaves, True)
    with pytest.raises(ReadingError) as caught:
        wire.parse_part(frame)
    assert (caught.value.message, caught.value.reason, caught.value.hint) == (message, reason, hint)


@given(st.lists(ANY, max_size=3).map(tuple), st.booleans(), st.floats(0.001, 1e6), ANY)
def test_setups_arrive(passwords: tuple[str, ...], ocr: bool, seconds: float, tokenizer: str) -> None:
    setup = wire.Setup(Limits(seconds), ReadOptions(passwords, ocr, ("eng", "deu")), tokenizer, (2048, 512, 128))
    assert wire.parse_setup(wire.setup_frame(setup)) == setup


def test_orders_arrive_whatever_bytes_are_in_a_name() -> None:
    path = Path("/tmp/caf\udce9.pdf")
    assert wire.parse_order(wire.order_frame(path, "s")) == (path, "s", None)
    assert wire.parse_order(wire.order_frame(path, "s", path / "real")) == (path, "s", path / "real")


def test_a_document_that_no_frame_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 100)
    with pytest.raises(ReadingError) as caught:
        wire.part_frame(ChunkedDocument(Document("s", "t", (Block("x" * 100),))))
    assert caught.value.reason == "too_large"


@given(st.lists(st.builds(Frame, st.sampled_from(Tag), st.binary(max_size=50)), max_size=5), st.integers(0, 400))
def test_a_stream_that_is_cut_short_ends_between_two_frames(sent: list[Frame], cut: int) -> None:
    stream = io.BytesIO()
    for frame in sent:
        send(stream, frame)
    whole = stream.getvalue()
    stream = io.BytesIO(whole[:cut])
    arrived = list(iter(lambda: receive(stream), None))
    assert arrived == sent[: len(arrived)]
    assert len(arrived) == len(sent) or cut < len(whole)


@pytest.mark.parametrize("noise", [b"\x63" + bytes(8), b"\x04" + b"\xff" * 8, b"Traceback (most recent call last)"])
def test_noise_is_no_frame(noise: bytes) -> None:
    assert receive(io.BytesIO(noise)) is None


def test_an_answer_ends_with_an_error_or_an_end() -> None:
    assert [tag for tag in Tag if Frame(tag).is_last] == [Tag.ERROR, Tag.END]

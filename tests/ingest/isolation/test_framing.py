"""Frames over a pipe."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.ingest.isolation.framing import Frame, Tag, receive, send


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

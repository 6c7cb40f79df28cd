from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import ReadingError
from anabranch.ingestion.web.fetcher import decoded


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "X-GZIP ": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
}


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=5000), st.integers(1, 600))
def test_what_was_packed_comes_out_however_it_is_cut(encoding: str, data: bytes, size: int) -> None:
    assert b"".join(decoded(cut(PACKERS[encoding](data), size), encoding)) == data


def test_gzip_members_may_follow_one_another() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two")
    assert b"".join(decoded([packed], "gzip")) == b"one two"


@pytest.mark.parametrize("packed", [gzip.compress(bytes(10**8)), zlib.compress(bytes(10**8))], ids=["gzip", "deflate"])
def test_a_bomb_comes_out_in_small_pieces(packed: bytes) -> None:
    encoding = "gzip" if packed[:2] == b"\x1f\x8b" else "deflate"
    sizes = [len(piece) for piece in decoded([packed], encoding)]
    assert max(sizes) <= 1 << 16
    assert sum(sizes) == 10**8


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("left_out", [1, 5, 50])
def test_what_breaks_off_is_broken(encoding: str, left_out: int) -> None:
    packed = PACKERS[encoding](bytes(range(256)) * 2)
    with pytest.raises(ReadingError) as caught:
        list(decoded([packed[:-left_out]], encoding))
    assert caught.value.reason == "broken"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_what_is_not_packed_is_broken(encoding: str) -> None:
    with pytest.raises(ReadingError) as caught:
        list(decoded([b"<html>not packed at all</html>"], encoding))
    assert caught.value.reason == "broken"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "\xff"])
def test_what_was_not_asked_for_is_not_unpacked(encoding: str) -> None:
    with pytest.raises(ReadingError) as caught:
        list(decoded([b"\x1b\x00"], encoding))
    assert caught.value.reason == "unsupported"

"""What is in compressed files, however they are made."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import struct
import zlib
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.ingestion.archives.decompression import open_unpacked

# At the level that takes the least time: what is tried is how it comes out.
PACK = {
    "gz": partial(gzip.compress, compresslevel=1),
    "bz2": partial(bz2.compress, compresslevel=1),
    "xz": partial(lzma.compress, preset=0),
}


@pytest.mark.parametrize("packing", PACK)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.binary(max_size=3000), min_size=1, max_size=4), size=st.integers(1, 5000))
def test_streams_one_after_the_other_come_out_as_one(
    tmp_path: Path, packing: str, parts: list[bytes], size: int
) -> None:
    (path := tmp_path / "x").write_bytes(b"".join(PACK[packing](part) for part in parts) + b"\0" * 8)
    with open_unpacked(path, packing) as file:
        assert b"".join(iter(lambda: file.read1(size), b"")) == b"".join(parts)


@pytest.mark.parametrize("packing", PACK)
def test_what_breaks_off_raises(tmp_path: Path, packing: str) -> None:
    (path := tmp_path / "x").write_bytes(PACK[packing](b"Herons wait." * 100)[:-6])
    with open_unpacked(path, packing) as file, pytest.raises(EOFError, match=r"cut off|ended before the end"):
        file.read()


@pytest.mark.parametrize("packing", PACK)
def test_what_came_before_the_damage_comes_out(tmp_path: Path, packing: str) -> None:
    data = random.Random(7).randbytes(1_000_000)
    packed = PACK[packing](data)
    (path := tmp_path / "x").write_bytes(packed[: len(packed) // 2])
    out = b""
    with open_unpacked(path, packing) as file, pytest.raises(EOFError):
        while True:
            out += file.read1(1 << 16)
    assert data.startswith(out)
    assert len(out) > 0 if packing == "bz2" else len(out) > 400_000


@pytest.mark.parametrize("packing", PACK)
def test_a_bomb_comes_out_in_pieces_of_the_size_asked_for(tmp_path: Path, packing: str) -> None:
    (path := tmp_path / "x").write_bytes(PACK[packing](bytes(20_000_000)))
    with open_unpacked(path, packing) as file:
        sizes = [len(piece) for piece in iter(lambda: file.read1(10_000), b"")]
    assert max(sizes) <= 10_000
    assert sum(sizes) == 20_000_000


def test_a_dictionary_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    data = bytearray(lzma.compress(b"Herons wait."))
    header, length = 12, (data[12] + 1) * 4  # of the first block (xz file format, 3.1)
    assert data[header + 2 : header + 4] == b"\x21\x01"  # LZMA2, one byte of properties: the size of the dictionary
    data[header + 4] = 38  # 2 GiB
    struct.pack_into("<I", data, header + length - 4, zlib.crc32(data[header : header + length - 4]))
    (path := tmp_path / "x").write_bytes(data)
    with open_unpacked(path, "xz") as file, pytest.raises(lzma.LZMAError, match="Memory"):
        file.read()


class TimeIsUpError(Exception):
    """What a check raises that has seen enough."""


@pytest.mark.parametrize("packing", PACK)
def test_empty_streams_leave_time_to_look_at_the_clock(tmp_path: Path, packing: str) -> None:
    """Nothing comes out of them, so whoever asks for a byte is told nothing until the file is over."""
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks > 3:
            raise TimeIsUpError

    (path := tmp_path / "x").write_bytes(PACK[packing](b"") * 30_000)
    with open_unpacked(path, packing, check) as file, pytest.raises(TimeIsUpError):
        file.read1(1)

"""Arrays come back as they were written, and a file that is filled where it lies has all its room from the start."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from anabranch.store.index import mmap_file as mapping
from anabranch.store.index.mmap_file import mapped, reserved, save

KINDS = st.sampled_from([np.uint8, np.uint16, np.int32, np.int64, np.float32, np.dtype("S16")])


@given(KINDS.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=1, max_dims=2, min_side=0))), st.booleans())
def test_what_is_saved_is_what_numpy_saves(array: np.ndarray, is_turned: bool) -> None:
    array = array.T if is_turned else array
    with TemporaryDirectory() as home:
        file, reference = Path(home) / "a.npy", Path(home) / "b.npy"
        save(file, array)
        np.save(reference, np.ascontiguousarray(array))
        assert file.read_bytes() == reference.read_bytes()
        np.testing.assert_array_equal(np.array(mapped(file)), array)


@pytest.mark.parametrize("has_fallocate", [True, False])
@pytest.mark.parametrize("size", [0, 1, 700_000])
def test_a_reserved_file_has_all_its_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, has_fallocate: bool
) -> None:
    if not has_fallocate:
        monkeypatch.delattr(mapping.os, "posix_fallocate", raising=False)
    array = reserved(tmp_path / "a.npy", np.int32, size)
    assert (tmp_path / "a.npy").stat().st_blocks * 512 >= os.path.getsize(tmp_path / "a.npy")
    array[:] = 7
    array.flush()
    assert np.array_equal(mapped(tmp_path / "a.npy"), np.full(size, 7, np.int32))

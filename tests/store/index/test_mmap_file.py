"""Arrays come back as they were written."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from anabranch.store.index.mmap_file import map_array, save

KINDS = st.sampled_from([np.uint8, np.uint16, np.int32, np.int64, np.float32, np.dtype("S16")])


@given(KINDS.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=1, max_dims=2, min_side=0))), st.booleans())
def test_what_is_saved_is_what_numpy_saves(array: np.ndarray, is_turned: bool) -> None:
    array = array.T if is_turned else array
    with TemporaryDirectory() as home:
        file, reference = Path(home) / "a.npy", Path(home) / "b.npy"
        save(file, array)
        np.save(reference, np.ascontiguousarray(array))
        assert file.read_bytes() == reference.read_bytes()
        np.testing.assert_array_equal(np.array(map_array(file)), array)

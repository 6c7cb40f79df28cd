"""Arrays come back as they were written."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from anabranch.store.index.mmap_file import mapped, save

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


@pytest.mark.parametrize("made", [b"", b"\x93NUMPY", b"no array", "cut", "objects", "columns first", "version 2"])
def test_what_save_does_not_write_is_refused(made: str | bytes, tmp_path: Path) -> None:
    file, array = tmp_path / "a.npy", np.arange(12).reshape(3, 4)
    with file.open("wb") as out:
        if made == "objects":
            np.save(out, np.array([{}]), allow_pickle=True)
        elif made == "version 2":
            np.lib.format.write_array(out, array, version=(2, 0))
        else:
            np.save(out, np.asfortranarray(array) if made == "columns first" else array)
    if isinstance(made, bytes):
        file.write_bytes(made)
    elif made == "cut":
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"\w"):
        mapped(file)


def test_nobody_can_write_to_what_is_mapped(tmp_path: Path) -> None:
    save(tmp_path / "a.npy", np.arange(3))
    with pytest.raises(ValueError, match="read-only"):
        mapped(tmp_path / "a.npy")[0] = 1

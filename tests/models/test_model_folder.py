"""Checksums of files that stay and files that change."""

from __future__ import annotations

import hashlib
from pathlib import Path

from anabranch.models.model_folder import sha256


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    for content in (b"", b"one", b"three", bytes(300_000)):
        file.write_bytes(content)
        assert sha256(file) == sha256(file) == hashlib.sha256(content).hexdigest()

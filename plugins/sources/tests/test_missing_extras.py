"""Without what an address needs, the message names the extra that brings it, and no corpus is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import MissingExtraError
from anabranch.ingestion.pipeline import ingest
from tests.absent import hide


@pytest.mark.parametrize(
    ("address", "package", "extra"),
    [
        ("https://example.org/", "protego", "web"),
        ("http://example.org/", "httpcore", "web"),
        ("https://example.org/", "anabranch_sources", "web"),
        ("s3://papers/days", "s3fs", "s3"),
        ("s3://papers/days", "anabranch_sources", "s3"),
    ],
)
def test_the_extra_is_named(
    address: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(package, monkeypatch, forget="anabranch_sources")
    with pytest.raises(MissingExtraError) as caught:
        ingest([address], tmp_path / "corpus")
    assert f"pip install 'anabranch[{extra}]'" in caught.value.hint
    assert not (tmp_path / "corpus").exists()

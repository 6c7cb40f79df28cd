from __future__ import annotations

from pathlib import Path

from plugins.readers.tests.format_samples import MHTML
from tests.readers.read_bytes import documents, reason


def test_the_page_and_its_address(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.mhtml", MHTML)
    assert (document.title, document.metadata) == ("The page", {"format": "mhtml", "url": "https://x.org/a"})
    assert [block.text for block in document.blocks] == ["some words: Grüße"]


def test_without_a_page_it_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.mht", "From: x\n\njust a mail") == "broken"

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.readers.tests.format_samples import BOOK
from tests.readers.read_bytes import documents, reason


def test_sections_verse_and_who_wrote_it(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.fb2", BOOK)
    assert (document.title, document.metadata) == ("The Book", {"format": "fb2", "author": "Ada L"})
    assert [(block.text, block.heading) for block in document.blocks] == [
        ("One", ("One",)),
        ("some words", ("One",)),
        ("a\nb", ("One",)),
    ]


def test_the_encoding_that_it_declares_counts(tmp_path: Path) -> None:
    data = BOOK.replace('"1.0"', '"1.0" encoding="windows-1251"').replace("some ", "слова ").encode("cp1251")
    (document,) = documents(tmp_path, "a.fb2", data)
    assert document.blocks[1].text == "слова words"


@pytest.mark.parametrize("data", [BOOK[:300], "<html/>", "no xml"])
def test_damage_is_broken(tmp_path: Path, data: str) -> None:
    assert reason(tmp_path, "a.fb2", data) == "broken"


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SECRET")
    declared = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
    bomb = f"{declared}<FictionBook><body><p>a &x; b</p></body></FictionBook>"
    (document,) = documents(tmp_path, "a.fb2", bomb)
    assert "SECRET" not in document.blocks[0].text

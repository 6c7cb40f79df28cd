from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.readers.extensionless import CODE_NAMES
from anabranch_readers.code_languages import LANGUAGES_BY_NAME
from tests.readers.read_bytes import documents, reason


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("LICENSE", "Some terms.\n", {"format": "text"}),
        ("Makefile", "all:\n\techo\n", {"format": "code", "language": "make"}),
        ("Dockerfile", "FROM x\n", {"format": "code", "language": "dockerfile"}),
        ("run", "#!/bin/sh\n  echo\n", {"format": "code", "language": "bash"}),
    ],
)
def test_what_it_is_tells_by_its_name_or_its_content(
    tmp_path: Path, name: str, data: str, kind: dict[str, str]
) -> None:
    (document,) = documents(tmp_path, name, data)
    assert document.metadata == kind
    assert document.blocks[0].text == data.rstrip()


def test_a_text_that_begins_as_a_message_does_is_read_whole(tmp_path: Path) -> None:
    text = "From: Hamburg\nTo: Bremen\nDate: 2024-05-01\nPrice: 30 EUR"
    for data in (text, text + "\n\nTwo seats."):
        (document,) = documents(tmp_path, "ticket", data)
        assert document.metadata == {"format": "text"}
        assert "Price: 30 EUR" in document.blocks[0].text


@pytest.mark.work(20)
def test_a_hostile_first_line_takes_no_time(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "box", "From a " + "00:00 2000 " * 5_000)
    assert document.metadata == {"format": "text"}


def test_files_that_are_code_without_an_extension_have_a_language() -> None:
    assert set(LANGUAGES_BY_NAME) == CODE_NAMES


def test_a_program_is_skipped_and_no_failure(tmp_path: Path) -> None:
    assert reason(tmp_path, "tool", b"\x7fELF" + bytes(50)) == "unsupported"

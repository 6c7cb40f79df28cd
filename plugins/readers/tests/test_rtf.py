from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.read_bytes import documents, reason

LETTER = (
    r"{\rtf1\ansi\ansicpg1252{\info{\title The Plan}{\author Ada}}\pard Gr\'fc\'dfe from \b here\b0.\par "
    r"Second {\v SECRET} one.\par\trowd\cellx100\cellx200 a\cell b\cell\row\trowd 1\cell 2\cell\row\pard End.\par}"
)


@pytest.mark.work(10)
@pytest.mark.parametrize("name", ["title", "author"])
def test_a_title_that_nothing_closes_is_not_tried_in_every_way(tmp_path: Path, name: str) -> None:
    (document,) = documents(tmp_path, "a.rtf", rf"{{\rtf1\ansi {{\{name} " + r"\u12345 ?" * 40 + r"{}}\pard Here.\par}")
    assert document.blocks[-1].text.endswith("Here.")


def test_words_tables_and_what_is_hidden(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.rtf", LETTER)
    assert (document.title, document.metadata) == ("The Plan", {"format": "rtf", "author": "Ada"})
    assert [block.text for block in document.blocks] == [
        "Grüße from here.",
        "Second one.",
        "| a | b |\n| 1 | 2 |",
        "End.",
    ]
    assert document.notes == ("hidden text was left out (6 characters)",)


def test_what_is_no_rtf_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.rtf", "just prose") == "broken"

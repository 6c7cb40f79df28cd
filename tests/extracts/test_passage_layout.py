from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.extracts.passage_layout import blocks_of, piece_spans, trim_span

MIXED = """To remove a lock:

weir remove OLD_LOCK
weir list --all

| Year | Loss |
| 1921 | 1,009 |

It is gone then. Ask the keeper.
"""


def test_prose_tables_and_commands_are_told_apart() -> None:
    read = [(each.kind, MIXED[each.start : each.end].strip()) for each in blocks_of(MIXED)]
    assert [(kind, text) for kind, text in read if text] == [
        ("prose", "To remove a lock:"),
        ("code", "weir remove OLD_LOCK\nweir list --all"),
        ("table", "| Year | Loss |\n| 1921 | 1,009 |"),
        ("prose", "It is gone then. Ask the keeper."),
    ]


def test_pieces_are_sentences_rows_and_whole_blocks_of_code() -> None:
    assert [MIXED[start:end] for start, end in piece_spans(MIXED)] == [
        "To remove a lock:",
        "weir remove OLD_LOCK\nweir list --all",
        "| Year | Loss |",
        "| 1921 | 1,009 |",
        "It is gone then.",
        "Ask the keeper.",
    ]


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_what_the_document_fences_is_code_whatever_stands_in_it(fence: str) -> None:
    text = f"Say:\n{fence}sh\n| a | b |\nOne. Two.\n{fence}\nDone."
    assert [each.kind for each in blocks_of(text)] == ["prose", "code", "prose"]


LINES = st.lists(st.sampled_from(["| a | b |", "```", "~~~", "weir list --all", "So it is.", "", "  x", "- one"]))


@given(LINES.map("\n".join))
def test_blocks_joined_are_the_passage(text: str) -> None:
    blocks = blocks_of(text)
    assert "".join(text[each.start : each.end] for each in blocks) == text
    for start, end in piece_spans(text):
        assert text[start:end].strip() == text[start:end] != ""


@given(st.text(" \na", max_size=12))
def test_a_trimmed_span_has_no_blank_at_its_ends(text: str) -> None:
    start, end = trim_span(text, 0, len(text))
    assert text[start:end] == text.strip()

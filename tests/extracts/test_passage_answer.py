from __future__ import annotations

import pytest

from anabranch.extracts.best_passages import ChunkSpan, ShownPassage
from anabranch.extracts.passage_answer import passage_markdown, place_line, write_answer
from anabranch.readers.document import Chunk


def passage(text: str, best: str = "") -> ShownPassage:
    leaf = Chunk("c", "d", "d", "mill.md", "Mill", "Mill > Staff", None, None, 2, None, 0, len(text), text, 1)
    at = text.index(best) if best else 0
    return ShownPassage(1, (ChunkSpan(leaf, 0, len(text)),), text, (at, at + len(best)))


def test_the_sentence_that_fits_best_is_bold_and_nothing_is_left_out() -> None:
    text = "It was built in 1897. It had 4,453 workers in\nthree yards. They like it."
    best = "It had 4,453 workers in\nthree yards."
    assert passage_markdown(passage(text, best)) == (
        "It was built in 1897. **It had 4,453 workers in**\n**three yards.** They like it."
    )


def test_lists_keep_their_items_and_a_bullet_stays_outside_the_bold() -> None:
    text = "Three kinds:\n\n- The great wheel.\n- The small wheel."
    assert passage_markdown(passage(text, "- The small wheel.")) == (
        "Three kinds:\n\n- The great wheel.\n- **The small wheel.**"
    )


def test_a_table_gets_the_rule_that_makes_it_one_and_no_bold() -> None:
    text = "Results:\n| Year | Loss |\n| 1921 | 1,009 |\nThat is all."
    assert passage_markdown(passage(text, "| 1921 | 1,009 |")) == (
        "Results:\n\n| Year | Loss |\n| --- | --- |\n| 1921 | 1,009 |\n\nThat is all."
    )
    ruled = "| a \\| b | c |\n|---|---|\n| 1 | 2 |"
    assert passage_markdown(passage(ruled)) == ruled
    assert "| --- | --- |\n" in passage_markdown(passage("| a \\| b | c |\n| 1 | 2 |"))


def test_commands_get_a_fence_and_no_bold_and_keep_their_brackets() -> None:
    text = "Remove it:\n\nweir remove a[1] --now\nweir list"
    shown = passage_markdown(passage(text, "weir remove a[1] --now\nweir list"))
    assert shown == "Remove it:\n\n```\nweir remove a[1] --now\nweir list\n```"
    fenced = "```sh\nweir list\n```"
    assert passage_markdown(passage(fenced, "weir list")) == fenced
    assert passage_markdown(passage("```sh\nweir list")) == fenced
    assert passage_markdown(passage("x --a ```\ny --b")).startswith("````\n")


def test_reference_marks_of_a_document_do_not_read_as_citations() -> None:
    assert passage_markdown(passage("It is so [12], they say [3, 7].", "It is so [12], they say [3, 7].")) == (
        "**It is so, they say.**"
    )


@pytest.mark.parametrize("best", ["a * b is c.", "Set `x to 1."])
def test_what_bold_marks_would_break_is_left_as_it_is(best: str) -> None:
    assert passage_markdown(passage(best, best)) == best


def test_a_link_of_a_document_leads_nowhere() -> None:
    text = "See [the page](https://evil.example/x) and ![p](https://evil.example/y)."
    assert "evil" not in passage_markdown(passage(text, text))


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (("mill.md", 3, "Mill > Staff"), "mill.md, p. 3, Mill > Staff"),
        (("mill.md", None, ""), "mill.md"),
        (("https://mill.example/a", None, ""), "https://mill.example/a"),
        (("a [b](https://evil.example)", None, ""), "a [b] (https: // evil.example)"),
        (("mill.md", None, "One\n two"), "mill.md, One two"),
    ],
)
def test_a_passage_is_under_its_place(told: tuple[str, int | None, str], line: str) -> None:
    assert place_line(*told) == line


def test_the_answer_says_first_what_it_is() -> None:
    other = passage("It turns.")
    second = ShownPassage(2, other.spans, other.text)
    assert write_answer("No model.", [("mill.md, Staff", passage("It stands.")), ("wheel.md", second)]) == (
        "No model.\n\n[1] mill.md, Staff\n\nIt stands.\n\n[2] wheel.md\n\nIt turns."
    )

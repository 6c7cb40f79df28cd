from __future__ import annotations

import pytest

from anabranch.readers.document import access_tags, declared_title, titles, with_heading


def test_tags_are_kept_once_in_order() -> None:
    assert access_tags(["hr", " board ", "hr"]) == ("hr", "board")
    assert access_tags([]) == ()


@pytest.mark.parametrize("given", [None, "hr", ["hr", 1], [" "], {"hr": 1}, ("hr",), True])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="list of tags"):
        access_tags(given)


def test_a_heading_closes_its_equals_and_those_below_it() -> None:
    path = with_heading(with_heading(with_heading((), 1, "One"), 2, "Two"), 3, "Three")
    assert titles(path) == ("One", "Two", "Three")
    assert titles(with_heading(path, 2, "Other")) == ("One", "Other")
    assert titles(with_heading(path, 1, "New")) == ("New",)
    assert titles(with_heading((), 4, "Deep first")) == ("Deep first",)


@pytest.mark.parametrize(
    "left_by_a_program", ["", None, "untitled", "Microsoft Word - draft", "scan.jpg", "0001-22-16"]
)
def test_marks_of_programs_are_no_titles(left_by_a_program: str | None) -> None:
    assert declared_title(left_by_a_program) == ""


def test_a_title_is_one_line() -> None:
    assert declared_title(" Annual\nReport  2021. ") == "Annual Report 2021."

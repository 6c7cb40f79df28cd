import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_readers.pdf_layout.headers_footers import without_running
from anabranch_readers.pdf_layout.text_lines import Line, PageLines
from plugins.readers.tests.pdf_layout.build import line, page

PROSE = "and a line of the page's own prose, of no other page but number"


def body(number: int) -> list[Line]:
    """Lines of its own: letters differ, so that digits aside no two pages say the same."""
    own = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return [line(f"{own}{at} {PROSE} {own}", 50, 200 + 12 * at) for at in range(3)]


def left(pages: list[PageLines]) -> list[list[str]]:
    return [[x.text for x in lines if PROSE not in x.text] for lines in without_running(pages)]


def test_headers_footers_and_numbers_go_and_the_rest_stays() -> None:
    pages = [
        page(n, [line("Annual Report 2021", 50, 30), *body(n), line(f"Board | {n}", 50, 770), line(str(n), 300, 785)])
        for n in range(1, 7)
    ]
    kept = without_running(pages)
    assert left(pages) == [[]] * 6
    assert [len(lines) for lines in kept] == [3] * 6


def test_headers_may_change_with_the_chapter_and_the_side() -> None:
    pages = [
        page(n, [line(("Left title", f"Chapter about {'ab'[n > 10]}")[n % 2], 50, 30), *body(n)]) for n in range(1, 21)
    ]
    assert left(pages) == [[]] * 20


@pytest.mark.parametrize("style", ["{}", "- {} -", "Page {} of 99", "{}/99", "Seite {}"])
def test_page_numbers_are_found_where_they_float_and_where_the_count_starts_late(style: str) -> None:
    pages = [page(n, [*body(n), line(style.format(n + 4), 300, 400 + 10 * n)]) for n in range(1, 8)]
    assert left(pages) == [[]] * 7


def test_a_number_beside_a_running_title_goes_with_it() -> None:
    pages = [page(n, [line("abcdefg"[n], 50, 30), line(str(n), 500, 30), *body(n)]) for n in range(1, 7)]
    assert left(pages) == [[]] * 6


def test_what_few_pages_say_stays() -> None:
    pages = [page(n, [line("Year ended December 31,", 50, 30), *body(n)]) for n in (1, 2)]
    assert left(pages) == [["Year ended December 31,"]] * 2
    many = [page(n, [*([line("Table heading", 50, 30)] if n in {3, 4, 5} else []), *body(n)]) for n in range(1, 30)]
    assert [found for found in left(many) if found] == [["Table heading"]] * 3


def test_numbers_that_do_not_count_as_the_pages_do_stay() -> None:
    pages = [page(n, [*body(n), line(str(n * n + 7), 300, 700)]) for n in range(1, 8)]
    assert left(pages) == [[str(n * n + 7)] for n in range(1, 8)]


def test_large_type_and_lone_lines_stay() -> None:
    chapters = [page(n, [line(f"Chapter {n}", 50, 30, size=18), *body(n)]) for n in range(1, 7)]
    assert left(chapters) == [[f"Chapter {n}"] for n in range(1, 7)]
    slides = [page(n, [line(f"Potato {n}", 50, 30)]) for n in range(1, 7)]
    assert left(slides) == [[f"Potato {n}"] for n in range(1, 7)]


@given(st.lists(st.lists(st.sampled_from(["Header", "1", "2", "3", "words"]), max_size=5), max_size=8))
def test_what_is_kept_was_there_in_the_same_order(texts: list[list[str]]) -> None:
    pages = [page(n, [line(x, 50, 20 + 150 * at) for at, x in enumerate(found)]) for n, found in enumerate(texts, 1)]
    kept = without_running(pages)
    assert len(kept) == len(pages)
    for whole, part in zip(pages, kept, strict=True):
        assert [x for x in whole.lines if x in part] == part
        assert part or not any(x.text.isalpha() for x in whole.lines)

import pytest

from anabranch.readers.page_ranges import pages_named


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([3], "page 3"),
        ([3, 4], "pages 3, 4"),
        ([1, 2, 3], "pages 1-3"),
        ([1, 2, 3, 5, 6, 8, 9, 10], "pages 1-3, 5, 6, 8-10"),
    ],
)
def test_page_numbers_as_people_write_them(numbers: list[int], said: str) -> None:
    assert pages_named(numbers) == said

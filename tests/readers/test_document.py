import pytest

from anabranch.readers.document import access_tags


def test_tags_are_kept_once_in_order() -> None:
    assert access_tags(["hr", " board ", "hr"]) == ("hr", "board")
    assert access_tags([]) == ()


@pytest.mark.parametrize("given", [None, "hr", ["hr", 1], [" "], {"hr": 1}, ("hr",), True])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="list of tags"):
        access_tags(given)

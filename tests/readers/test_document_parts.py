import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import ReadingError
from anabranch.readers import document_parts as parts
from anabranch.readers.document import Block, Document
from anabranch.readers.document_parts import LeftOut, in_parts

WHOLE = Document("a.csv", "a", (), {"format": "csv"}, key="a.csv", notes=("decoded",))


def test_a_short_table_is_one_document() -> None:
    (document,) = in_parts([Block("one"), Block("two")], WHOLE, lambda: ["counted"])
    assert [block.text for block in document.blocks] == ["one", "two"]
    assert (document.source, document.key, document.title) == ("a.csv", "a.csv", "a")
    assert document.notes == ("decoded", "counted")


def test_nothing_is_no_document() -> None:
    with pytest.raises(ReadingError) as caught:
        list(in_parts([], WHOLE, list))
    assert caught.value.reason == "empty"


def test_what_is_left_out_is_told_once_with_its_count() -> None:
    left_out = LeftOut()
    left_out["hidden cells were left out ({})"] += 2
    left_out["comments were not read ({})"] += 0
    left_out["hidden cells were left out ({})"] += 1
    assert left_out.notes() == ("hidden cells were left out (3)",)


def test_a_long_one_is_numbered_and_told_of_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_CHARACTERS", 10)
    found = list(in_parts((Block("x" * 4) for _ in range(7)), WHOLE, lambda: ["counted"]))
    assert [document.source for document in found] == ["a.csv#part-1", "a.csv#part-2", "a.csv#part-3"]
    assert [document.key for document in found] == [document.source for document in found]
    assert [document.title for document in found] == ["a, part 1", "a, part 2", "a, part 3"]
    assert [document.notes for document in found] == [(), (), ("decoded", "counted")]


def test_rows_added_at_the_end_change_the_last_part_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_CHARACTERS", 10)
    before = list(in_parts([Block("x" * 4)] * 7, WHOLE, list))
    after = list(in_parts([Block("x" * 4)] * 8, WHOLE, list))
    assert before[:-1] == after[:-1]


def test_no_more_than_two_parts_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_CHARACTERS", 10)
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield Block("x" * 4)

    documents = in_parts(endless(), WHOLE, list)
    next(documents)
    assert taken <= 6


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=30), st.integers(1, 20))
def test_parts_keep_every_block_in_order(texts: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "MOST_CHARACTERS", most)
        found = list(in_parts([Block(text) for text in texts], WHOLE, list))
    assert [block.text for document in found for block in document.blocks] == texts
    assert len({document.source for document in found}) == len(found)
    assert all(document.blocks for document in found)

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch.evaluation.queries import Reference
from anabranch.evaluation.span_evidence import Letters, letters_before, located
from anabranch.readers.plain_text import paragraphs
from anabranch.text.normalization import clean

ORIGINAL = "\n\n  First line.  \n\n\n\nThe \u200bofficer\u00ad came.\r\n\r\nThe o\ufb03cer came. The end.\n"


def ingested(text: str) -> str:
    """What a corpus holds of a text."""
    return "\n\n".join(paragraphs(clean(text)))


def test_evidence_is_found_where_reading_moved_it() -> None:
    start = ORIGINAL.index("The \u200b")
    one = Reference("d", start, start + len("The \u200bofficer\u00ad came."), "")
    text = ingested(ORIGINAL)
    ((_, place, off),) = located([one], text, ORIGINAL)
    assert place is not None
    assert text[slice(*place)] == "The officer came."
    assert (place[0], off) == (text.index("The"), 0)


def test_of_two_equal_places_the_one_that_is_meant() -> None:
    start = ORIGINAL.index("The o\ufb03cer")
    one = Reference("d", start, start + len("The o\ufb03cer came."), "The officer came.")
    text = ingested(ORIGINAL)
    ((_, place, off),) = located([one], text, ORIGINAL)
    assert place is not None
    assert (place[0], off) == (text.rindex("The officer"), 0)


def test_words_win_over_wrong_numbers_and_it_is_said() -> None:
    ((_, place, off),) = located([Reference("d", 0, 8, "The end.")], ingested(ORIGINAL), ORIGINAL)
    assert place is not None
    assert ingested(ORIGINAL)[slice(*place)] == "The end."
    assert off > 0


def test_words_without_numbers() -> None:
    ((_, place, off),) = located([Reference("d", None, None, "first\nline. The".title())], "First Line. The", "")
    assert (place, off) == ((0, 15), 0)


def test_what_is_not_there_is_not_found() -> None:
    rows = [Reference("d", 0, 4, "nowhere"), Reference("d", 0, 1, ""), Reference("d", 900, 950, "")]
    assert [place for _, place, _ in located(rows, ingested(ORIGINAL), ORIGINAL)] == [None, None, None]


def test_letters_are_counted_once_over_the_text() -> None:
    assert letters_before("a b\n\ufb01 c", [0, 1, 5, 7, 99]) == {0: 0, 1: 1, 5: 4, 7: 5, 99: 5}
    assert Letters("a a").nearest("a", 1) == (2, 3, 0)


TEXTS = st.text(alphabet=st.sampled_from("abc é\u00e9 \n\t\u200b\u00ad\ufb01e\u0301.\r"), min_size=1, max_size=60)


@given(TEXTS, st.data())
def test_every_span_of_a_text_is_found_after_reading(original: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(original) - 1))
    end = data.draw(st.integers(start + 1, len(original)))
    text = ingested(original)
    ((_, place, _),) = located([Reference("d", start, end, "")], text, original)
    squashed = "".join(clean(original[start:end]).split())
    # A mark that joins the letter before it is another letter alone; such a cut through a letter names no words.
    if squashed and not _joins(original[start:]) and not _joins(original[end:]):
        assert place is not None
        assert "".join(text[slice(*place)].split()) == squashed


def _joins(text: str) -> bool:
    return text.lstrip("\u200b\u00ad").startswith("\u0301")

from typing import Any

from anabranch_readers.pdf_layout.emphasis import BOLD, ITALIC, is_mostly, leading_words


def span(text: str, flags: int = 0) -> dict[str, Any]:
    return {"text": text, "flags": flags}


def test_two_thirds_of_the_letters_decide() -> None:
    assert is_mostly([span("bold words", BOLD), span("not")], BOLD)
    assert not is_mostly([span("bold", BOLD), span("but not these")], BOLD)


def test_the_first_words_are_those_before_the_first_in_other_type() -> None:
    title = [
        span("Data", BOLD),
        span(" "),
        span("and methods.", BOLD),
        span(" "),
        span("We measured "),
        span("all", BOLD),
    ]
    assert leading_words(title) == "Data and methods."
    assert (
        leading_words([span("Version ", ITALIC), span("4", 1), span(" notes.", ITALIC), span(" See")])
        == "Version 4 notes."
    )


def test_bold_words_do_not_run_on_in_italics_and_plain_ones_lead_nothing() -> None:
    assert leading_words([span("Data.", BOLD), span(" We", ITALIC)]) == "Data."
    assert leading_words([span("We "), span("measured", BOLD)]) == ""
    assert leading_words([span("All bold", BOLD)]) == "All bold"

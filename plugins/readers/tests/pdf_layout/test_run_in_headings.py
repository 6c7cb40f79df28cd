from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_readers.pdf_layout.headings import with_outline, with_type
from anabranch_readers.pdf_layout.paragraphs import Paragraph
from anabranch_readers.pdf_layout.run_in_headings import with_run_ins

TEXT = "The water of the river was measured in each of the four seasons, and at three places of its course."


def led(lead: str, text: str = TEXT, *, rows: int = 3) -> Paragraph:
    """A paragraph that begins with words in bold."""
    said = f"{lead} {text}".strip()
    return Paragraph(said, 1, 10.0, bold=False, italic=False, rows=rows, table=False, lead=len(lead))


def plain(text: str = TEXT * 3) -> Paragraph:
    return led("", text)


def heads(found: Sequence[Paragraph]) -> list[str]:
    return [paragraph.text for paragraph in with_run_ins(found) if paragraph.is_run_in]


@pytest.mark.parametrize(
    "titles",
    [
        ("Data and methods.", "Results."),
        ("Daten und Methoden.", "Ergebnisse."),
        ("Données recueillies :", "Résultats."),
        ("数据与方法。", "结果。"),
        ("2.1 Data.", "2.2 eprint support."),
        ("1. Purpose of Agreement.", "2. Assistance."),
        ("Data ", "Results of it "),  # a wide gap and no stop
    ],
)
def test_titles_at_the_start_of_paragraphs_head_them(titles: tuple[str, ...]) -> None:
    found = [part for title in titles for part in (led(title), plain())]
    parts = with_run_ins(found)
    assert [part.text for part in parts if part.is_run_in] == [title.strip() for title in titles]
    assert [part.text for part in parts][:3] == [titles[0].strip(), TEXT, plain().text]


@pytest.mark.parametrize(
    ("lead", "text"),
    [
        ("A weir", "is a low dam over which water flows, in a river that boats do not use."),
        ("The river was measured in all four of its seasons, at three places and by two people.", TEXT),
        ("Figure 2.", TEXT),
        ("Satz 3.1 (Gauß).", "Jede Zahl hat eine Zerlegung, und nur eine, bis auf die Reihenfolge."),
        ("Note:", TEXT),
        ("Bew.:", TEXT),
        ("J. Hydrol.", "12 (2004), 36-44. A long entry of a bibliography, on the flow of a river."),
        ("• Speed.", TEXT),
        ("weir.", "A low dam over which the water of a river flows, for instance beside a mill."),
        ("Rev. Lett.", ", vol. 114, no. 5, page 50 of a long entry in a bibliography"),
    ],
)
def test_other_first_words_do_not(lead: str, text: str) -> None:
    others = [led("Data."), plain(), led("Results."), plain()]
    assert heads([*others, led(lead, text)]) == ["Data.", "Results."]


def test_short_entries_and_small_type_do_not() -> None:
    others = [led("Data."), plain(), led("Results."), plain()]
    assert heads([*others, led("Contact.", "Ada", rows=1)]) == ["Data.", "Results."]
    assert heads([*others, replace(led("Sources."), size=8.0)]) == ["Data.", "Results."]


def test_one_alone_is_no_custom_of_the_document() -> None:
    assert heads([plain(), led("Results."), plain()]) == []


def test_definitions_and_speakers_in_a_row_are_no_headings() -> None:
    assert heads([plain(), led("Weir and dam:"), led("Lock and gate:"), led("Mill race:"), plain()]) == []
    talk = [led(name) for _ in range(4) for name in ("Ada Byron.", "Karl Gauß.", "Sofja K.")]
    assert heads([*talk, led("A guest here.")]) == []
    assert heads([led("Data."), *[led("Remark here."), plain()] * 3, led("Results."), plain()]) == ["Data.", "Results."]


@pytest.mark.parametrize(
    "clauses",
    [
        ("8.1 Agreement to Arbitrate. In exchange for the benefits", "8.2 Waiver. Except as otherwise required"),
        ("5.1 Laufzeit. Der Vertrag beginnt am ersten Tag", "5.2 Kündigung. Jede Partei kann den Vertrag"),
    ],
)
def test_clauses_with_titles_in_plain_type(clauses: tuple[str, str]) -> None:
    found = [plain(f"{clause} {TEXT}") for clause in clauses]
    assert heads(found) == [clause[: clause.index(". ") + 1] for clause in clauses]


def test_clauses_that_are_sentences_have_no_titles() -> None:
    said = (
        "7.1 The Seller delivers. The Buyer pays",
        "7.2 The term of this is ten years",
        "7.3 Both parties agree to it",
    )
    assert heads([plain(f"{clause} {TEXT}") for clause in said]) == []
    defined = ('1.1 "Plan" means the Lyft, Inc. Executive Plan', '1.2 "Cause" means Gross Negligence, Inc. Conduct')
    assert heads([plain(f"{clause} {TEXT}") for clause in defined]) == []


def test_a_run_in_heading_stands_below_all_others_without_its_stop() -> None:
    title = replace(plain("Methods"), size=14.0, rows=1)
    blocks = [*with_type(with_run_ins([title, led("Data:  "), plain(), led("River data:"), plain(), led("Results.")]))]
    assert [block.heading for block in blocks if block.is_heading] == [
        ("Methods",),
        ("Methods", "River data"),
        ("Methods", "Results"),
    ]
    assert blocks[-1].text == TEXT
    assert blocks[-1].heading == ("Methods", "Results")


def test_an_outline_begins_at_its_run_in_headings_and_has_the_others_below() -> None:
    found = with_run_ins([led("2.1 Data."), plain(), led("Rain."), plain(), led("2.2 Results.")])
    blocks = [*with_outline(found, [(1, "2 Methods", 1), (2, "2.1 Data", 1), (2, "2.2 Results", 1)])]
    assert [block.heading for block in blocks if block.is_heading] == [
        ("2 Methods", "2.1 Data"),
        ("2 Methods", "2.1 Data", "Rain"),
        ("2 Methods", "2.2 Results"),
    ]


LEADS = st.sampled_from(["", "Data.", "2.1 Data", "Note:", "Results:", "River data ", "Bold", "8.1 "])


@given(st.lists(st.builds(led, LEADS, st.sampled_from([TEXT, "and so on", "", "A title. It goes on"]))))
def test_no_letter_is_lost(found: list[Paragraph]) -> None:
    parts = with_run_ins(found)
    assert "".join("".join(x.text.split()) for x in parts) == "".join("".join(x.text.split()) for x in found)
    assert all(part.text for part in parts if part.is_run_in)

"""Bold paragraphs are the headings of a page that has no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.readers.html import read_html

BOLD = "font-weight:bold;font-size:10pt"


def headings(tmp_path: Path, body: str) -> list[tuple[str, ...]]:
    path = tmp_path / "filing.html"
    path.write_text(f"<html><body>{body}</body></html>", "utf-8")
    (document,) = read_html(path, path.name)
    return [block.heading for block in document.blocks if block.is_heading]


def plain(text: str = "Text of the section, which is not bold, and ends with a stop.") -> str:
    return f"<p>{text}</p>" * 2


FILINGS = {
    "English": ("PART I", "ITEM 1. BUSINESS", "Our Products", "ITEM 1A. RISK FACTORS", "PART II", "ITEM 5. MARKET"),
    "German": ("TEIL I", "ARTIKEL 1. GEGENSTAND", "Unsere Werke", "ARTIKEL 2. RISIKEN", "TEIL II", "ARTIKEL 3. MARKT"),
    "Greek": ("ΜΕΡΟΣ I", "ΑΡΘΡΟ 1. ΑΝΤΙΚΕΙΜΕΝΟ", "Τα έργα μας", "ΑΡΘΡΟ 2. ΚΙΝΔΥΝΟΙ", "ΜΕΡΟΣ II", "ΑΡΘΡΟ 3. ΑΓΟΡΑ"),
}


@pytest.mark.parametrize("language", FILINGS)
@pytest.mark.parametrize(
    "bold", [f'<p style="{BOLD}">{{}}</p>', "<p><b>{}</b></p>", "<div><strong> {} </strong></div>"]
)
def test_the_outline_of_a_filing_is_that_of_its_bold_lines(tmp_path: Path, bold: str, language: str) -> None:
    part, item, under, other, second, last = FILINGS[language]
    found = headings(tmp_path, "".join(bold.format(title) + plain() for title in FILINGS[language]))
    assert found == [
        (part,), (part, item), (part, item, under), (part, other), (second,), (second, last),
    ]  # fmt: skip


def test_larger_letters_stand_above(tmp_path: Path) -> None:
    body = f'<p style="font-weight:700;font-size:20px">Report</p>{plain()}'
    body += "".join(f'<p style="{BOLD}">{title}</p>{plain()}' for title in ("Weirs", "Mills", "Boats"))
    assert headings(tmp_path, body) == [("Report",), ("Report", "Weirs"), ("Report", "Mills"), ("Report", "Boats")]


@pytest.mark.parametrize(
    "other",
    [
        "<p><b>Note</b> that this is not bold throughout</p>",
        "<p><b>This is a warning, and it ends with a stop.</b></p>",
        f"<p><b>{'A contract that is bold throughout ' * 6}</b></p>",
        "<p><b>Table of Contents</b></p>" * 3,
        "<table><tr><td><p><b>Total</b></p></td><td>1</td></tr><tr><td>Net</td><td>2</td></tr></table>",
        "<ul><li><p><b>An item</b></p></li></ul>",
        '<p><b style="font-weight:normal">Undone</b></p>',
        "<p><b>2021</b></p>",
    ],
)
def test_what_is_bold_for_another_reason_is_no_heading(tmp_path: Path, other: str) -> None:
    assert headings(tmp_path, f"<p><b>A heading</b></p>{plain()}{other}{plain() * 3}") == [("A heading",)]


def test_a_page_with_headings_of_its_own_keeps_them(tmp_path: Path) -> None:
    assert headings(tmp_path, f"<h2>Weirs</h2>{plain()}<p><b>Bold</b></p>{plain()}") == [("Weirs",)]


def test_a_page_that_is_bold_throughout_has_none(tmp_path: Path) -> None:
    assert headings(tmp_path, "<p><b>One line</b></p><p><b>Another line</b></p><p>plain</p>") == []


def test_a_real_filing_has_its_items_as_headings(shared: Path) -> None:
    path = shared / "data" / "awkward" / "html-10k__example-10k.html"
    (document,) = read_html(path, path.name)
    assert document.title == path.stem
    items = [block.heading for block in document.blocks if block.is_heading and block.text.startswith("ITEM ")]
    assert len(items) == 19
    assert all(path[-2].startswith("PART ") for path in items)
    assert ("FORM 10-K", "PART I", "ITEM 1A. RISK FACTORS") in items

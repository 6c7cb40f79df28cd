"""Numbers of lists and clauses, in files that python-docx writes."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.document import Document as WordDocument
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from anabranch_readers.docx import read_docx


def level(at: int, form: str, text: str, more: str = "") -> str:
    return (
        f"<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{form}'/>{more}<w:lvlText w:val='{text}'/></w:lvl>"
    )


CONTRACT = (
    level(0, "decimal", "%1.")
    + level(1, "lowerLetter", "(%2)")
    + level(2, "lowerRoman", "%3)")
    + level(3, "bullet", "")
)
LEGAL = level(0, "upperRoman", "%1.") + level(1, "decimal", "%1.%2", "<w:isLgl/>")


def contract(*lists: str) -> WordDocument:
    """Return a document with these definitions of lists, the instance 100 of the first, 101 of the second."""
    word = docx.Document()
    root = word.part.numbering_part.element
    for at, levels in enumerate(lists):
        root.insert(0, parse_xml(f"<w:abstractNum {nsdecls('w')} w:abstractNumId='{90 + at}'>{levels}</w:abstractNum>"))
        instance(word, 100 + at, 90 + at)
    return word


def instance(word: WordDocument, number: int, abstract: int, override: str = "") -> None:
    inner = f"<w:abstractNumId w:val='{abstract}'/>{override}"
    word.part.numbering_part.element.append(parse_xml(f"<w:num {nsdecls('w')} w:numId='{number}'>{inner}</w:num>"))


def clause(word: WordDocument, text: str, at: int = 0, number: int = 100, style: str | None = None) -> None:
    added = word.add_paragraph(text, style=style)
    inner = f"<w:ilvl w:val='{at}'/><w:numId w:val='{number}'/>"
    added._p.get_or_add_pPr().append(parse_xml(f"<w:numPr {nsdecls('w')}>{inner}</w:numPr>"))


def lines(tmp_path: Path, word: WordDocument) -> list[str]:
    path = tmp_path / "contract.docx"
    word.save(str(path))
    (document,) = read_docx(path, "contract.docx")
    return "\n".join(block.text for block in document.blocks).split("\n")


def test_clauses_have_the_numbers_that_word_prints(tmp_path: Path) -> None:
    word = contract(CONTRACT)
    for text, at in [("The seller", 0), ("pump", 1), ("pipe", 1), ("steel", 2), ("stone", 2), ("dot", 3)]:
        clause(word, text, at)
    word.add_paragraph("A sentence between.")
    for text, at in [("The buyer", 0), ("price", 1)]:
        clause(word, text, at)
    assert lines(tmp_path, word) == [
        "1. The seller", "(a) pump", "(b) pipe", "i) steel", "ii) stone", "- dot",
        "A sentence between.", "2. The buyer", "(a) price",
    ]  # fmt: skip


def test_a_legal_level_shows_the_levels_above_it_in_digits(tmp_path: Path) -> None:
    word = contract(LEGAL)
    for text, at in [("Scope", 0), ("Goods", 0), ("Quality", 1), ("Quantity", 1)]:
        clause(word, text, at)
    assert lines(tmp_path, word) == ["I. Scope", "II. Goods", "2.1 Quality", "2.2 Quantity"]


def test_two_instances_of_a_list_go_on_counting_unless_one_begins_anew(tmp_path: Path) -> None:
    word = contract(CONTRACT)
    instance(word, 200, 90)
    instance(word, 201, 90, "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='7'/></w:lvlOverride>")
    for text, number in [("one", 100), ("two", 200), ("seven", 201), ("eight", 201)]:
        clause(word, text, number=number)
    assert lines(tmp_path, word) == ["1. one", "2. two", "7. seven", "8. eight"]


def test_a_numbered_heading_keeps_its_number(tmp_path: Path) -> None:
    word = contract(CONTRACT)
    clause(word, "Payment", style="Heading 1")
    word.add_paragraph("within ten days")
    path = tmp_path / "a.docx"
    word.save(str(path))
    (document,) = read_docx(path, "a.docx")
    assert document.blocks[-1].heading == ("1. Payment",)


@pytest.mark.parametrize(
    ("form", "shown"), [("upperLetter", "AA"), ("lowerRoman", "xxvii"), ("decimalZero", "27"), ("chosung", "27")]
)
def test_the_twenty_seventh(tmp_path: Path, form: str, shown: str) -> None:
    word = contract(level(0, form, "%1"))
    for at in range(27):
        clause(word, f"point {at}")
    assert lines(tmp_path, word)[-1] == f"{shown} point 26"


def test_a_list_that_is_not_defined_has_bullets(tmp_path: Path) -> None:
    word = contract(CONTRACT)
    clause(word, "alone", number=999)
    assert lines(tmp_path, word) == ["- alone"]

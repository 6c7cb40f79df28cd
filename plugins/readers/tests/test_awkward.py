"""Real files that have broken readers before: each gives text, or the one right reason why not."""

import json
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch.readers import READERS, ReadOptions, read
from anabranch.readers.document import Document

REASONS = {
    "blank": {"empty"},
    "docx-truncated": {"broken"},
    "encrypted": {"encrypted"},
    "encrypted-R6": {"encrypted"},
    "fuzzed": {"broken"},
    "huge-page": {"scanned"},
    "scanned": {"scanned"},
    "scanned-medium-blog": {"scanned"},
    "xfa": {"empty"},
    "xlsx-encrypted": {"encrypted"},
    "zero-byte": {"empty"},
    "cid": {"scanned"},  # its glyphs have no letters, so that only OCR can read it
}
BY_FILE = {
    "broken__issue9105_other.pdf": {"broken"},
    "broken__no_contents.pdf": {"empty"},
    "encrypted__empty_protected.pdf": {"empty"},  # opens without a password and its page is blank
}
PHRASES = {
    "attachment": "sanctus est Lorem ipsum dolor sit amet.",
    "broken__failure-after-repair.pdf": "Many people feel shocked and upset when told they have breast cancer.",
    "broken__invalid-pdf-structure-pdfminer-one-page.pdf": "efforts to address the nation’s cybersecurity threats",
    "docx-872p": "CHAPTER 1 – INTRODUCTION",
    "duplicate-page": "There were 20,000 bottles of water",
    "eml-non-utf8": "אם אוכל לעזור לך בשאלות מקצועיות גרידא, אשמח לסייע.",
    "encrypted-perm": "LayoutParser: A Unified Toolkit for Deep",
    "epub": "THE SUN-SEEKER",
    "form": "First Name Alice",
    "html-10k": "Galaxy Gaming, Inc.",
    "html-huge-pre": "UNITING AND STRENGTHENING AMERICA",
    "html-utf16-ja": "日本語",
    "japanese": "青色の灯火",
    "longdoc": "Ein topologischer Raum ist ein Paar",
    "multicolumn__multi-column-2p.pdf": "relies on efficient passage retrieval to select candidate contexts",
    "naughty-strings": "undefined",
    "odt": "| Header row | Mon | Wed | Fri |\n| Color | Blue | Red | Green |",
    "outline-loop": "Salad 29",
    "pdf-french": "Une façon d’assister l’analyse d’entrepôt de données",
    "pptx": "| Table | A | B | C |\n| 1 | A1 | B1 | C1 |",
    "rtl": "ي",
    "table": "NICS Firearm Background Checks",
    "table-cjk": "| 온라인쇼핑몰 | 삼성카드 쇼핑, G마켓, 옥션, 11번가",
    "toc": "What follows is an image embedded as a Form XObject",
    "xlsx-emoji": "🤠😅",
    "txt-multilang": "(Jinan)\n是人都生而自由，在尊严和权利上一律平等。",
}
NOTES = {"attachment": "attached files", "mixed": "pages 1-3, 5, 6 have no text layer", "html-10k": "hidden text"}


@pytest.fixture(scope="module")
def awkward(shared: Path) -> list[tuple[Path, str]]:
    folder = shared / "data" / "awkward"
    listed = json.loads((folder / "manifest.json").read_text())
    return [(folder / entry["file"], entry["category"]) for entry in listed]


def outcome(path: Path) -> Document | str:
    try:
        (document,) = read(path, path.name, ReadOptions(ocr=False))
    except ReadingError as error:
        assert "\n" not in str(error)
        return error.reason
    assert isinstance(document, Document)
    return document


def test_each_file_gives_text_or_the_right_reason(awkward: list[tuple[Path, str]]) -> None:
    wrong = []
    for path, category in awkward:
        found = outcome(path)
        expected = BY_FILE.get(path.name, REASONS.get(category, set()))
        if path.suffix not in READERS:
            expected = {"unsupported"}
        if (found if isinstance(found, str) else "text") not in (expected or {"text"}):
            wrong.append((path.name, found))
        if isinstance(found, Document):
            check(found, path.name, category)
    assert wrong == []


def check(document: Document, name: str, category: str) -> None:
    text = "\n\n".join(block.text for block in document.blocks)
    assert PHRASES.get(name, PHRASES.get(category, "")) in text, name
    assert NOTES.get(category, "") in " ".join(document.notes), name
    text.encode()
    json.dumps(document.metadata)
    assert document.title.strip() == document.title != ""
    for block in document.blocks:
        assert block.text.strip()
        assert all(title.strip() for title in block.heading)
        assert not block.is_heading or block.heading
        assert (block.page is not None) == name.endswith((".pdf", ".pptx"))


def test_reading_twice_gives_the_same(awkward: list[tuple[Path, str]]) -> None:
    for path, category in awkward:
        if category in {"multicolumn", "docx-hdrftr", "html-utf16-ja", "naughty-strings", "mixed"}:
            assert outcome(path) == outcome(path)

"""Letters that nobody sees, in files that python-docx writes."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.document import Document as WordDocument
from docx.enum.dml import MSO_THEME_COLOR
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_COLOR_INDEX
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt, RGBColor

from anabranch.readers.document import Document
from anabranch_readers.docx import read_docx

WHITE = RGBColor(255, 255, 255)


def read(tmp_path: Path, word: WordDocument) -> Document:
    path = tmp_path / "letter.docx"
    word.save(str(path))
    (document,) = read_docx(path, "letter.docx")
    return document


def text(document: Document) -> str:
    return "\n".join(block.text for block in document.blocks)


def hidden_by(word: WordDocument, way: str) -> None:
    run = word.add_paragraph("Seen. ").add_run("SECRET")
    if way == "itself":
        run.font.hidden = True
    elif way == "character style":
        word.styles.add_style("Ghost", WD_STYLE_TYPE.CHARACTER).font.hidden = True
        run.style = "Ghost"
    elif way == "a style above":
        word.styles.add_style("Ghost", WD_STYLE_TYPE.CHARACTER).font.hidden = True
        word.styles.add_style("Child", WD_STYLE_TYPE.CHARACTER).base_style = word.styles["Ghost"]
        run.style = "Child"
    elif way == "white":
        run.font.color.rgb = WHITE
    elif way == "the theme's paper":
        run.font.color.theme_color = MSO_THEME_COLOR.BACKGROUND_1
    elif way == "tiny":
        run.font.size = Pt(1)


WAYS = ["itself", "character style", "a style above", "white", "the theme's paper", "tiny"]


@pytest.mark.parametrize("way", WAYS)
def test_letters_that_nobody_sees_are_left_out_and_counted(tmp_path: Path, way: str) -> None:
    word = docx.Document()
    hidden_by(word, way)
    document = read(tmp_path, word)
    assert text(document) == "Seen."
    assert document.notes == ("hidden text was left out (6 characters)",)


def test_a_whole_paragraph_may_be_hidden_by_its_style(tmp_path: Path) -> None:
    word = docx.Document()
    word.styles.add_style("Ghost", WD_STYLE_TYPE.PARAGRAPH).font.color.rgb = WHITE
    word.add_paragraph("Seen.")
    word.add_paragraph("SECRET", style="Ghost")
    assert text(read(tmp_path, word)) == "Seen."


def shade(fill: str) -> object:
    return parse_xml(f"<w:shd {nsdecls('w')} w:val='clear' w:color='auto' w:fill='{fill}'/>")


@pytest.mark.parametrize("ground", ["highlight", "run", "paragraph", "cell", "table style", "page"])
def test_white_letters_on_a_ground_are_seen(tmp_path: Path, ground: str) -> None:
    word = docx.Document()
    holder = word.add_table(1, 1).cell(0, 0) if ground in {"cell", "table style"} else word
    run = holder.add_paragraph().add_run("Seen")
    run.font.color.rgb = WHITE
    if ground == "highlight":
        run.font.highlight_color = WD_COLOR_INDEX.DARK_BLUE
    elif ground == "run":
        run._r.get_or_add_rPr().append(shade("1F497D"))
    elif ground == "paragraph":
        word.paragraphs[-1]._p.get_or_add_pPr().append(shade("1F497D"))
    elif ground == "cell":
        holder._tc.get_or_add_tcPr().append(shade("1F497D"))
    elif ground == "table style":
        word.tables[0].style = "Medium Shading 1 Accent 1"
    else:
        word.element.insert(0, parse_xml(f"<w:background {nsdecls('w')} w:color='1F497D'/>"))
    document = read(tmp_path, word)
    assert "Seen" in text(document)
    assert document.notes == ()


def test_a_run_that_says_otherwise_than_its_style_is_seen(tmp_path: Path) -> None:
    word = docx.Document()
    word.styles.add_style("Ghost", WD_STYLE_TYPE.CHARACTER).font.hidden = True
    run = word.add_paragraph().add_run("Seen", style="Ghost")
    run.font.hidden = False
    assert text(read(tmp_path, word)) == "Seen"

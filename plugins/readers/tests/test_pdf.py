import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from anabranch.errors import ReadingError
from anabranch.readers.document import Document, ReadOptions
from anabranch_readers import scanned_pages
from anabranch_readers.ocr import OcrUnavailable
from anabranch_readers.pdf import read_pdf

PROSE = (
    "The river divides above the town and each arm keeps its own course for some miles before the water meets again. "
    "Boats take the eastern arm in spring, when it is deep, and the western one in summer. "
)


def save(pdf: Any, path: Path, **options: Any) -> Path:
    pdf.save(str(path), **options)
    pdf.close()
    return path


def read(path: Path) -> Document:
    (document,) = read_pdf(path, path.name)
    return document


def paged(count: int) -> Any:
    """A report with a running header, a footer with page numbers, headings and prose."""
    pdf = pymupdf.open()
    for number in range(1, count + 1):
        page = pdf.new_page()
        page.insert_text((72, 40), "River Board Annual Report", fontsize=9)
        page.insert_text((280, 800), f"Page {number} of {count}", fontsize=9)
        page.insert_text((72, 100), f"{number} Chapter about part {number}", fontsize=18)
        page.insert_textbox((72, 130, 520, 500), f"Fact {number * 111}. {PROSE * 3}", fontsize=11)
    return pdf


def test_pages_headings_and_prose(tmp_path: Path) -> None:
    document = read(save(paged(4), tmp_path / "report.pdf"))
    assert [(block.page, block.text) for block in document.blocks if block.is_heading] == [
        (number, f"{number} Chapter about part {number}") for number in range(1, 5)
    ]
    prose = [block for block in document.blocks if not block.is_heading]
    assert [block.page for block in prose] == [1, 2, 3, 4]
    assert prose[2].text == f"Fact 333. {PROSE * 3}".strip()
    assert prose[2].heading == ("3 Chapter about part 3",)
    assert document.metadata == {"format": "pdf", "pages": 4}


def test_what_two_pages_repeat_may_be_text(tmp_path: Path) -> None:
    document = read(save(paged(2), tmp_path / "report.pdf"))
    assert sum(block.text == "River Board Annual Report" for block in document.blocks) == 2


def test_the_outline_gives_the_path_where_there_is_one(tmp_path: Path) -> None:
    pdf = paged(4)
    pdf.set_toc([[1, "Rivers", 1], [2, "2 Chapter about part 2", 2], [1, "Towns", 4]])
    document = read(save(pdf, tmp_path / "report.pdf"))
    paths = {block.page: block.heading for block in document.blocks if not block.is_heading}
    assert paths == {
        1: ("Rivers",),
        2: ("Rivers", "2 Chapter about part 2"),
        3: ("Rivers", "2 Chapter about part 2"),
        4: ("Towns",),
    }
    assert [block.text for block in document.blocks if block.is_heading] == ["2 Chapter about part 2"]


def test_title_from_the_file_then_the_largest_words_then_the_name(tmp_path: Path) -> None:
    pdf = paged(1)
    pdf.set_metadata({"title": "River report", "author": "Ada"})
    document = read(save(pdf, tmp_path / "a.pdf"))
    assert (document.title, document.metadata["author"]) == ("River report", "Ada")
    pdf = paged(1)
    pdf.set_metadata({"title": "Microsoft Word - draft.doc"})
    assert read(save(pdf, tmp_path / "b.pdf")).title == "1 Chapter about part 1"
    pdf = pymupdf.open()
    pdf.new_page().insert_textbox((72, 72, 520, 400), PROSE)
    assert read(save(pdf, tmp_path / "c.pdf")).title == "c"
    page = (pdf := pymupdf.open()).new_page()
    for at, words in ((200, "1 Rivers"), (420, "2 Towns")):
        page.insert_text((72, at), words, fontsize=16)
        page.insert_textbox((72, at + 20, 520, at + 200), PROSE)
    assert read(save(pdf, tmp_path / "d.pdf")).title == "1 Rivers"


def test_a_heading_that_fills_its_line_goes_on_below_it_also_after_a_full_stop(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    wrapped = "1. I know that duplicate times are not allowed but my data has them."
    page.insert_text((72, 100), wrapped, fontsize=12, fontname="hebo")
    page.insert_text((72, 114), "What do I do?", fontsize=12, fontname="hebo")
    right = 72 + pymupdf.get_text_length(wrapped, "hebo", 12)
    page.insert_textbox((72, 130, right + 1, 400), PROSE * 3, fontsize=11, align=pymupdf.TEXT_ALIGN_JUSTIFY)
    page.insert_text((72, 420), "2. Rivers.", fontsize=12, fontname="hebo")
    page.insert_text((72, 434), "2.1. Weirs", fontsize=12, fontname="hebo")
    page.insert_textbox((72, 450, right + 1, 700), PROSE * 2, fontsize=11)
    document = read(save(pdf, tmp_path / "faq.pdf"))
    assert [block.text for block in document.blocks if block.is_heading] == [f"{wrapped} What do I do?", "2.1. Weirs"]


def test_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((160, 60), "A headline over both columns of it", fontsize=16)
    left, right = ("Left " + "alpha beta gamma. " * 60), ("Right " + "delta epsilon zeta. " * 60)
    page.insert_textbox((60, 100, 285, 700), left, fontsize=10)
    page.insert_textbox((310, 100, 535, 700), right, fontsize=10)
    blocks = read(save(pdf, tmp_path / "two.pdf")).blocks
    assert [block.text for block in blocks] == ["A headline over both columns of it", left.strip(), right.strip()]


def test_table_cells_stay_in_row_order(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_textbox((60, 60, 535, 120), PROSE * 2, fontsize=10)
    for at, (name, *cells) in enumerate(
        [("Item", "2020", "2021"), ("Net loss", "5", "7"), ("Gross bookings", "93", "118")]
    ):
        for x, text in zip((60, 250, 400), (name, *cells), strict=True):
            page.insert_text((x, 160 + 14 * at), text, fontsize=10)
    blocks = read(save(pdf, tmp_path / "table.pdf")).blocks
    assert blocks[-1].text == "| Item | 2020 | 2021 |\n| Net loss | 5 | 7 |\n| Gross bookings | 93 | 118 |"


def ruled(page: Any, cells: Sequence[Sequence[str]], x: float, y: float) -> None:
    """Draw a table with all its lines."""
    width, height = 120, 20
    across, down = len(cells[0]) * width, len(cells) * height
    for at in range(len(cells) + 1):
        page.draw_line((x, y + at * height), (x + across, y + at * height))
    for at in range(len(cells[0]) + 1):
        page.draw_line((x + at * width, y), (x + at * width, y + down))
    for at, row in enumerate(cells):
        for column, text in enumerate(row):
            page.insert_text((x + column * width + 3, y + at * height + 14), text, fontsize=9)


def test_a_ruled_table_is_markdown_in_its_place_and_nothing_twice(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_textbox((60, 60, 535, 120), PROSE, fontsize=10)
    ruled(page, [("Gauge", "Place"), ("North", "at the old mill"), ("South", "below the town bridge")], 60, 140)
    page.insert_textbox((60, 220, 535, 320), PROSE.upper(), fontsize=10)
    blocks = read(save(pdf, tmp_path / "table.pdf")).blocks
    table = "| Gauge | Place |\n| North | at the old mill |\n| South | below the town bridge |"
    assert [block.text for block in blocks] == [PROSE.strip(), table, PROSE.upper().strip()]


def test_a_table_over_pages_keeps_its_header_and_its_page_numbers(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    rows = [(f"Station {at}", f"{at * 37 % 91}.5 m", f"{at * 53 % 97}.2 m") for at in range(60)]
    for part in ([("Station", "High water", "Low water"), *rows[:30]], rows[30:]):
        ruled(pdf.new_page(), part, 60, 60)
    blocks = read(save(pdf, tmp_path / "table.pdf")).blocks
    assert {block.page for block in blocks} == {1, 2}
    assert all(block.text.startswith("| Station | High water | Low water |\n| Station ") for block in blocks)
    said = [line for block in blocks for line in block.text.split("\n")[1:]]
    assert said == [f"| {' | '.join(row)} |" for row in rows]


def test_words_split_at_line_ends_are_whole_and_ligatures_are_letters(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    lines = [
        "Passage retrieval is used to select the con-",
        "texts of a well-known and high-quality sys-",
        "tem of record",
    ]
    for at, line in enumerate(lines):
        page.insert_text((72, 72 + 13 * at), line, fontsize=11)
    font = pymupdf.Font("cjk")
    writer = pymupdf.TextWriter(page.rect)
    writer.append((72, 150), "e\ufb03cient \ufb01sh", font=font, fontsize=11)
    writer.write_text(page)
    text = " ".join(block.text for block in read(save(pdf, tmp_path / "split.pdf")).blocks)
    assert "select the contexts of a well-known and high-quality system of record" in text
    assert "efficient fish" in text


def test_hidden_text_is_dropped_and_noted(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_textbox((72, 72, 520, 200), PROSE, fontsize=11)
    page.insert_text((72, 300), "white on white", color=(1, 1, 1))
    page.insert_text((72, 320), "tiny", fontsize=0.4)
    page.insert_text((72, 340), "unpainted", render_mode=3)
    page.insert_text((72, 380), "covered")
    page.draw_rect((60, 365, 400, 384), fill=(0, 0, 0))
    page.draw_rect((60, 400, 400, 440), fill=(0, 0, 0.4))
    page.insert_text((72, 425), "white on blue", color=(1, 1, 1))
    document = read(save(pdf, tmp_path / "hidden.pdf"))
    assert [block.text for block in document.blocks] == [PROSE.strip(), "white on blue"]
    assert document.notes == ("hidden text was left out (34 characters)",)


def picture() -> bytes:
    pixels = pymupdf.Pixmap(pymupdf.csGRAY, (0, 0, 60, 80), False)
    pixels.clear_with(200)
    return pixels.tobytes("png")


def test_the_invisible_layer_over_a_scan_is_its_text(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for _ in range(2):
        page = pdf.new_page()
        page.insert_image(page.rect, stream=picture())
        page.insert_text((72, 72), "recognised words", render_mode=3)
    pdf[1].insert_text((72, 400), "a visible stamp")
    document = read(save(pdf, tmp_path / "ocr.pdf"))
    assert [block.text for block in document.blocks] == ["recognised words", "recognised words", "a visible stamp"]
    assert document.notes == ()


@pytest.fixture
def without_tesseract(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(scanned_pages, "rapid_ocr", lambda: OcrUnavailable("RapidOCR is not installed", ""))


@pytest.mark.usefixtures("without_tesseract")
def test_pages_without_text_are_named(tmp_path: Path) -> None:
    pdf = paged(1)
    for _ in range(3):
        page = pdf.new_page()
        page.insert_image(page.rect, stream=picture())
    pdf.new_page()  # blank: nothing is missing there
    pdf.embfile_add("data.csv", b"a,b")
    document = read(save(pdf, tmp_path / "mixed.pdf"))
    scanned, attached = document.notes
    assert scanned.startswith("pages 2-4 have no text layer, and Tesseract is not on this machine")
    assert "tesseract-ocr" in scanned
    assert attached == "attached files were not read (1)"


def _cut_off(tmp_path: Path, share: float) -> Path:
    whole = save(paged(8), tmp_path / "whole.pdf").read_bytes()
    path = tmp_path / "cut.pdf"
    path.write_bytes(whole[: int(share * len(whole))])
    return path


def test_a_file_that_is_cut_off_says_how_many_pages_have_no_text(tmp_path: Path) -> None:
    document = read(_cut_off(tmp_path, 0.5))
    without = 8 - len({block.page for block in document.blocks})
    assert 0 < without < 8
    lost = f"{without} of 8 pages have no text, and pages may be missing"
    assert document.notes == (f"the file is damaged or cut off, and was repaired: {lost}",)


def test_a_file_without_its_end_may_lack_pages_also_where_all_have_text(tmp_path: Path) -> None:
    document = read(_cut_off(tmp_path, 0.99))
    assert {block.page for block in document.blocks} == set(range(1, 9))
    assert document.notes == ("the file is damaged or cut off, and was repaired: pages may be missing",)


def test_a_wrong_index_alone_is_not_worth_a_note(tmp_path: Path) -> None:
    path = save(paged(3), tmp_path / "whole.pdf")
    data = path.read_bytes()
    path.write_bytes(re.sub(rb"startxref\n\d+", b"startxref\n7", data))
    assert path.read_bytes() != data
    document = read(path)
    assert {block.page for block in document.blocks} == {1, 2, 3}
    assert document.notes == ()


def test_a_file_of_which_damage_left_no_text_is_not_called_blank(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page()
    path = save(pdf, tmp_path / "blank.pdf")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ReadingError, match="is damaged or cut off: no page of 1 has text") as caught:
        read(path)
    assert caught.value.reason == "broken"


def test_a_page_that_is_turned_is_read_like_another(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=500, height=800)
    page.set_rotation(90)
    page.insert_textbox(pymupdf.Rect(60, 60, 740, 300) * page.derotation_matrix, PROSE * 2, fontsize=11, rotate=90)
    document = read(save(pdf, tmp_path / "turned.pdf"))
    assert [block.text for block in document.blocks] == [(PROSE * 2).strip()]
    assert document.notes == ()


def test_a_stamp_up_the_margin_does_not_run_into_the_text(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_textbox((72, 72, 520, 400), PROSE * 3, fontsize=11)
    page.insert_text((30, 500), "arXiv:2004.04906", fontsize=20, rotate=90)
    document = read(save(pdf, tmp_path / "stamp.pdf"))
    assert [block.text for block in document.blocks] == [(PROSE * 3).strip(), "arXiv:2004.04906"]
    assert not any(block.is_heading for block in document.blocks)
    assert document.title == "stamp"


def test_slides_that_say_one_line_each_keep_it(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for number in range(1, 6):
        pdf.new_page().insert_text((72, 72), f"Potato {number}")
    assert len(read(save(pdf, tmp_path / "slides.pdf")).blocks) == 5


@pytest.mark.usefixtures("without_tesseract")
@pytest.mark.parametrize("pages", ["scan", "blank", "hidden", "password", "cut"])
def test_what_has_no_text_says_why(tmp_path: Path, pages: str) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    path = tmp_path / "x.pdf"
    if pages == "scan":
        page.insert_image(page.rect, stream=picture())
    if pages == "hidden":
        page.insert_text((72, 72), "unpainted", render_mode=3)
    if pages == "password":
        page.insert_text((72, 72), "secret")
        save(pdf, path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    else:
        save(pdf, path)
    if pages == "cut":
        path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(ReadingError) as caught:
        read(path)
    reasons = {"scan": "scanned", "blank": "empty", "hidden": "empty", "password": "encrypted", "cut": "broken"}
    assert caught.value.reason == reasons[pages]
    assert ("9 letters hidden" in str(caught.value)) == (pages == "hidden")
    assert ("ocrmypdf" in caught.value.hint) == (pages == "scan")
    assert ("--password" in caught.value.hint) == (pages == "password")


ENCRYPTIONS = [
    pymupdf.PDF_ENCRYPT_RC4_40,
    pymupdf.PDF_ENCRYPT_RC4_128,
    pymupdf.PDF_ENCRYPT_AES_128,
    pymupdf.PDF_ENCRYPT_AES_256,  # revision 6
]


@pytest.mark.parametrize("encryption", ENCRYPTIONS)
def test_a_password_opens_what_it_locks(tmp_path: Path, encryption: int) -> None:
    path = save(paged(1), tmp_path / "x.pdf", encryption=encryption, user_pw="sesämé", owner_pw="owner")
    for passwords in (("wrong", "sesämé"), ("owner",)):
        (document,) = read_pdf(path, "x.pdf", ReadOptions(passwords=passwords))
        assert "Fact 111." in document.blocks[-2].text
        assert "sesäm" not in repr(document)
    with pytest.raises(ReadingError) as caught:
        list(read_pdf(path, "x.pdf", ReadOptions(passwords=("wrong",))))
    assert caught.value.reason == "encrypted"
    assert "none that was given" in str(caught.value)
    assert "wrong" not in str(caught.value)


def test_real_locked_files_open_with_their_passwords(shared: Path) -> None:
    folder = shared / "data/awkward"
    names = {"encrypted__password-example.pdf": "test", "encrypted-R6__enc-XI-R6_V5_U-view_O-master.pdf": "view"}
    for name, password in names.items():
        (document,) = read_pdf(folder / name, name, ReadOptions(passwords=("no", password)))
        assert document.blocks


def test_a_file_that_only_its_owner_may_change_opens(tmp_path: Path) -> None:
    path = save(paged(1), tmp_path / "x.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="", owner_pw="o")
    assert "Fact 111." in read(path).blocks[-2].text


def test_other_formats_named_pdf_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    for data in (b"<html><p>hello</p></html>", picture(), b"plain words"):
        path.write_bytes(data)
        with pytest.raises((ReadingError, RuntimeError)):  # `read` turns the latter into `broken`
            read(path)


def test_threads_may_read_at_once(tmp_path: Path) -> None:
    paths = [save(paged(3 + at), tmp_path / f"{at}.pdf") for at in range(4)]
    alone = [read(path) for path in paths]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, paths * 3)) == alone * 3


def test_mupdf_says_nothing_on_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = save(paged(3), tmp_path / "x.pdf")
    path.write_bytes(path.read_bytes().replace(b"endobj", b"endxbj", 3))
    read(path)
    assert capfd.readouterr() == ("", "")


@cache
def long_document(path: Path) -> Document:
    """Read one of the two long documents once: 238 pages take seconds, and no test changes what was read."""
    return read(path)


def evidence(shared: Path, doc: str) -> list[dict[str, Any]]:
    lines = (shared / "data/seeds/questions.jsonl").read_text().splitlines()
    asked = [record for record in map(json.loads, lines) if record["doc"] == doc and record.get("evidence_regex")]
    assert asked
    return asked


@pytest.mark.parametrize(
    ("doc", "name", "pages"), [("llama2", "llama2.pdf", 59), ("lyft_2021", "lyft_2021_10k.pdf", 238)]
)
def test_the_evidence_for_every_question_is_read_on_its_page(shared: Path, doc: str, name: str, pages: int) -> None:
    document = long_document(shared / "data/seeds" / name)
    assert document.metadata["pages"] == pages
    assert {block.page for block in document.blocks} <= set(range(1, pages + 1))
    for question in evidence(shared, doc):
        found = {block.page for block in document.blocks if re.search(question["evidence_regex"], block.text)}
        assert found, question["id"]
        assert not question["pages"] or found == set(question["pages"]), question["id"]


def test_an_annual_report(shared: Path) -> None:
    document = long_document(shared / "data/seeds/lyft_2021_10k.pdf")
    assert document.title == "Lyft, Inc."
    assert not [block for block in document.blocks if block.text == str(block.page)]
    block = next(block for block in document.blocks if "six stockholders of record" in block.text)
    assert block.page == 55
    assert block.heading[-1] == "Holders of Record"
    assert any(title.startswith("Item 5. Market for Registrant") for title in block.heading)


def test_a_number_set_wide_is_found_as_a_whole(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 100), "11,062.", fontsize=10)
    page.insert_text((72 + pymupdf.get_text_length("11,062.", fontsize=10) + 2.5, 100), "6", fontsize=10)
    (block,) = read(save(pdf, tmp_path / "arrests.pdf")).blocks
    assert block.text == "11,062.6"


def test_a_manuscript_without_its_line_numbers(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    lines = ["The river divides above the town and each arm", "keeps its own course for some miles before it"] * 12
    for start in (0, 24):
        page = pdf.new_page()
        for at, text in enumerate(lines):
            page.insert_text((60, 80 + 24 * at), str(start + at + 1), fontsize=6)
            page.insert_text((100, 80 + 24 * at), text, fontsize=11)
    document = read(save(pdf, tmp_path / "manuscript.pdf"))
    assert " ".join(block.text for block in document.blocks) == " ".join(lines * 2)


def test_a_table_that_runs_up_the_page_is_read_as_if_upright(tmp_path: Path) -> None:
    rows = [("State", "Permit", "Totals"), ("Alabama", "18,870", "71,137"), ("Alaska", "209", "7,149")]
    pdf = pymupdf.open()
    page = pdf.new_page()
    for across, row in enumerate(rows):
        for up, cell in enumerate(row):
            page.insert_text((100 + 20 * across, 700 - 150 * up), cell, rotate=90)
    (block,) = read(save(pdf, tmp_path / "turned.pdf")).blocks
    assert block.text == "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_benchmarks_in_groups(shared: Path) -> None:
    document = long_document(shared / "data/seeds/llama2.pdf")
    (leaf,) = [b.text for b in document.blocks if "| Llama 1 | 65B |" in b.text and b.page == 5]
    names = ["Model", "Size", "Code", "Commonsense", "World", "Reading", "Math", "MMLU", "BBH", "AGI Eval"]
    said = [line.strip("| ").split(" | ") for line in leaf.split("\n")]
    assert said[0] == names
    row = dict(zip(names, next(row for row in said if row[1] == "65B"), strict=True))
    assert (row["Model"], row["MMLU"], row["BBH"], row["AGI Eval"]) == ("Llama 1", "63.4", "43.5", "47.6")


@pytest.mark.parametrize("turn", [90, 270])
def test_a_wide_table_turned_says_what_it_says_upright(shared: Path, tmp_path: Path, turn: int) -> None:
    upright = shared / "data/awkward/table__nics-background-checks-2015-11.pdf"
    pdf = pymupdf.open()
    with pymupdf.open(upright) as source:
        box = pymupdf.Rect(0, 0, source[0].rect.height, source[0].rect.width)
        pdf.new_page(width=box.width, height=box.height).show_pdf_page(box, source, 0, rotate=turn)
    turned = save(pdf, tmp_path / "turned.pdf")
    assert [block.text for block in read(turned).blocks] == [block.text for block in read(upright).blocks]


def test_a_paper_in_two_columns(shared: Path) -> None:
    document = read(shared / "data/awkward/multicolumn__multi-column-2p.pdf")
    text = "\n".join(block.text for block in document.blocks)
    assert "Open-domain question answering relies on efficient passage retrieval to select candidate contexts" in text
    assert "matches keywords efficiently with an inverted index" in text
    assert document.title == "Dense Passage Retrieval for Open-Domain Question Answering"
    assert (
        text.index("1 Introduction") < text.index("Retrieval in open-domain QA is usually") < text.index("2 Background")
    )


@pytest.mark.parametrize("titles", [("Data and methods.", "Results."), ("Daten und Methoden.", "Ergebnisse.")])
def test_bold_first_words_that_end_in_a_stop_head_their_paragraphs(tmp_path: Path, titles: tuple[str, str]) -> None:
    pdf = pymupdf.open()
    text = "".join(f"<p><b>{title}</b> {PROSE}</p><p>{PROSE} <b>Bold.</b> {PROSE}</p>" for title in titles)
    pdf.new_page().insert_htmlbox((72, 72, 520, 700), f"<h1>1 Study</h1>{text}")
    document = read(save(pdf, tmp_path / "paper.pdf"))
    found = [block for block in document.blocks if block.is_heading]
    assert [(block.text, block.heading[1:]) for block in found[1:]] == [(each, (each[:-1],)) for each in titles]
    assert "".join("".join(block.text for block in document.blocks).split()) == "1Study" + "".join(
        "".join(f"{title}{PROSE * 2}Bold.{PROSE}".split()) for title in titles
    )


RIGHT_TO_LEFT = {
    "Hebrew": ("המחקר התחיל באביב כאשר מפלס המים עלה.", "בקיץ ירד המפלס עד שאפשר היה לחצות את הנהר ברגל."),
    "Arabic": ("بدأت دراسة مياه نهر في فصل ربيع.", "وفي صيف جاف تراجع منسوب مياه نهر بسرعة كبيرة."),
}


@pytest.mark.parametrize("language", RIGHT_TO_LEFT)
def test_columns_of_a_page_from_right_to_left(tmp_path: Path, language: str) -> None:
    first, second = RIGHT_TO_LEFT[language]
    pdf = pymupdf.open()
    page = pdf.new_page()
    for text, x in ((second, 50), (first, 310)):
        page.insert_htmlbox((x, 72, x + 230, 700), f'<p dir="rtl">{text}</p>' * 8)
    document = read(save(pdf, tmp_path / "columns.pdf"))
    assert [block.text for block in document.blocks] == [first] * 8 + [second] * 8

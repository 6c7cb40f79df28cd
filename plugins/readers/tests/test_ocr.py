from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from anabranch_readers import ocr
from anabranch_readers.ocr import OcrUnavailable, Recognised, Tesseract, recognised, tesseract
from plugins.readers.tests.scanned import WORDS, picture, program, stand_in

NEEDS_SHELL = pytest.mark.skipif(sys.platform == "win32", reason="stands in for Tesseract with a shell script")


def said(found: Recognised | str) -> str:
    assert isinstance(found, Recognised)
    return " ".join(line.text for line in found.lines)


def test_words_on_a_picture() -> None:
    found = program().read(picture(kind="pnm"), 200)
    assert said(found) == WORDS
    assert isinstance(found, Recognised)
    assert (round(found.width), round(found.height)) == (500, 300)
    assert all(35 < line.x0 < 60 and 13 < line.size < 18 for line in found.lines)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_words_on_a_picture_that_lies_on_its_side(turn: int) -> None:
    known = program()
    if not known.knows_directions:
        pytest.skip("Tesseract has no data for directions (osd)")
    text = " ".join([WORDS] * 5)  # enough letters for it to be sure
    assert said(known.read(picture(text, turn), 200)) == text


def test_a_blank_picture_says_nothing() -> None:
    assert said(program().read(picture(""), 200)) == ""


def test_what_is_no_picture_is_a_failure() -> None:
    assert "code" in str(program().read(b"no picture", 200))


def test_a_language_without_data_is_a_lack() -> None:
    program()
    found = tesseract(("eng", "tlh"))
    assert isinstance(found, OcrUnavailable)
    assert "tlh" in found.what
    assert "TESSDATA_PREFIX" in found.hint


def test_without_the_program_there_is_a_lack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = tesseract(("eng",))
    assert isinstance(found, OcrUnavailable)
    assert found.what == "Tesseract is not on this machine"
    assert "ocrmypdf" in found.hint


@NEEDS_SHELL
def test_the_program_is_found_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(tmp_path, "exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = tesseract(("eng",))
    assert isinstance(found, Tesseract)
    assert found.program == str(tmp_path / "tesseract")
    assert isinstance(tesseract(("deu",)), OcrUnavailable)
    assert isinstance(tesseract(()), OcrUnavailable)


@NEEDS_SHELL
def test_a_program_that_does_not_start_is_a_lack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "tesseract"
    path.write_text("#!/no/such/shell\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = tesseract(("eng",))
    assert isinstance(found, OcrUnavailable)
    assert "does not start" in found.what


@NEEDS_SHELL
def test_a_program_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ocr, "_SECONDS", 0.5)
    assert stand_in(tmp_path, "exec sleep 600").read(b"", 200) == "it took over 0.5 seconds"


@NEEDS_SHELL
def test_a_program_that_fails_says_why(tmp_path: Path) -> None:
    failing = stand_in(tmp_path, 'echo "out of   luck" >&2; exit 3')
    assert failing.read(b"", 200) == "Tesseract failed with code 3: out of luck"
    assert said(stand_in(tmp_path, "echo rubbish").read(b"", 200)) == ""


def test_one_thread_a_page(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("stands in for Tesseract with a shell script")
    assert "limit 1" in str(stand_in(tmp_path, 'echo "limit $OMP_THREAD_LIMIT" >&2; exit 1').read(b"", 200))


def page(*lines: str, size: str = "0 0 2550 3300") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "x">'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body>'
        f"<div class='ocr_page' title='image \"stdin\"; bbox {size}; ppageno 0'><div class='ocr_carea'>"
        f"<p class='ocr_par'>{''.join(lines)}</p></div></div></body></html>"
    ).encode()


def line(words: list[tuple[str, str, int]], facts: str = "baseline 0 -11; x_size 55; x_descenders 12") -> str:
    said = "".join(
        f"<span class='ocrx_word' title='bbox {box}; x_wconf {sure}'>{text}</span>" for text, box, sure in words
    )
    return f"<span class='ocr_line' title=\"bbox 0 0 0 0; {facts}\">{said}</span>"


def test_words_and_their_places_in_points() -> None:
    found = recognised(page(line([("Lorem", "300 300 450 355", 96), ("<b>ipsum</b>", "470 300 640 355", 95)])), 300)
    (one,) = found.lines
    assert (one.text, one.x0, one.x1, one.size) == ("Lorem ipsum", 72.0, pytest.approx(153.6), pytest.approx(11.88))
    assert one.y0 < 300 * 72 / 300 + 2 < one.y1 < 355 * 72 / 300 + 2
    assert (found.width, found.height, found.doubtful) == (612.0, 792.0, 0)


def test_a_wide_gap_parts_cells() -> None:
    found = recognised(
        page(line([("Net", "300 300 450 355", 96), ("loss", "470 300 640 355", 95), ("5", "900 300 930 355", 90)])), 300
    )
    assert [each.text for each in found.lines] == ["Net loss", "5"]


def test_guesses_are_left_out_and_counted() -> None:
    found = recognised(
        page(
            line([("sure", "300 300 450 355", 90)]),
            line([("|°%", "300 400 450 455", 12), (",", "500 400 510 455", 30)]),
        ),
        300,
    )
    assert ([each.text for each in found.lines], found.doubtful) == (["sure"], 2)


@pytest.mark.parametrize(
    ("angle", "first", "second"),
    [
        (270, "1900 200 1940 700", "1850 200 1890 700"),
        (90, "200 900 240 1400", "250 900 290 1400"),
        (180, "1100 1500 1600 1540", "1100 1450 1600 1490"),
    ],
)
def test_a_page_on_its_side_or_head_lies_upright(angle: int, first: str, second: str) -> None:
    facts = f"textangle {angle}; x_size 40; x_descenders 8"
    found = recognised(
        page(line([("one", first, 90)], facts), line([("two", second, 90)], facts), size="0 0 2200 1700"), 72
    )
    one, two = found.lines
    assert (one.text, two.text) == ("one", "two")
    assert one.y1 < two.y1
    assert one.x1 - one.x0 == 500
    assert (found.width, found.height) == ((1700, 2200) if angle % 180 else (2200, 1700))


def test_what_runs_another_way_is_margin() -> None:
    facts = "textangle 90; x_size 40; x_descenders 8"
    lines = [line([("along", f"300 {at} 450 {at + 40}", 90)]) for at in (300, 360, 420)]
    found = recognised(page(*lines, line([("stamp", "10 300 50 600", 90)], facts)), 72)
    assert ([each.text for each in found.lines], [each.text for each in found.margin]) == (["along"] * 3, ["stamp"])
    assert found.margin[0].size == 0


def test_the_dot_before_a_list_item_is_one() -> None:
    found = recognised(page(line([("¢", "300 300 310 355", 50), ("Item", "330 300 450 355", 95)])), 300)
    assert found.lines[0].text == "• Item"


@pytest.mark.parametrize("hocr", [b"", b" \n", b"<html></html>", b"no xml at all", page()])
def test_nothing_is_nothing(hocr: bytes) -> None:
    assert recognised(hocr, 300).lines == ()


def test_entities_are_not_followed() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
    hocr = page(line([("&b;&a;word", "300 300 450 355", 90)])).replace(b"<!DOCTYPE", bomb + b"<!DOCTYPE", 1)
    assert "root" not in "".join(each.text for each in recognised(hocr, 300).lines)

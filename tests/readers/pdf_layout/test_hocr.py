import pytest

from anabranch.readers.pdf_layout.hocr import recognised


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

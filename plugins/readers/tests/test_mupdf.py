from pathlib import Path

import pymupdf
import pytest

from anabranch.readers import mupdf
from anabranch.readers.mupdf import FAULTS, open_pdf, words
from anabranch_readers import page_contents
from anabranch_readers.page_contents import list_images, list_painted, raise_if_out_of_memory


def test_a_pdf_opens_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "report"
    made = pymupdf.open()
    made.new_page()
    made.save(str(path))
    with open_pdf(path) as pdf:
        assert (pdf.is_pdf, pdf.page_count, pdf.is_repaired) == (True, 1, False)


def test_what_is_no_pdf_raises_in_silence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"plain words")
    with pytest.raises(FAULTS):
        open_pdf(path)
    assert capfd.readouterr() == ("", "")


def test_what_is_wrong_with_a_file_is_told_from_what_is_wrong_with_the_machine() -> None:
    with pytest.raises(FAULTS) as caught:
        pymupdf.open(stream=b"%PDF-1.7 and no more", filetype="pdf")
    raise_if_out_of_memory(caught.value)
    with pytest.raises(MemoryError):
        raise_if_out_of_memory(RuntimeError("code=2: malloc (468750000 bytes) failed"))


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_places_are_those_that_the_eye_sees(turn: int) -> None:
    page = pymupdf.open().new_page(width=600, height=800)
    page.set_rotation(turn)
    page.insert_image(
        pymupdf.Rect(40, 50, 140, 90) * page.derotation_matrix,
        stream=pymupdf.Pixmap(pymupdf.csGRAY, (0, 0, 10, 4), False).tobytes("png"),
        keep_proportion=False,
    )
    page.insert_text(pymupdf.Point(40, 200) * page.derotation_matrix, "word", rotate=turn)
    (image,) = list_images(page)
    assert (image.box, image.pixels, image.is_opaque) == (pytest.approx((40, 50, 140, 90)), 10, True)
    places = dict(list_painted(page))
    assert places["fill-image"] == pytest.approx((40, 50, 140, 90))
    (word,) = words(page)
    assert word[4] == "word"
    assert word[:2] == pytest.approx((40, 188), abs=2)


@pytest.mark.parametrize(
    ("shown", "letters"),
    [
        ("ﳋ", "لخ"),  # lam with khah, as in الخطوط
        ("ﻻ", "لا"),
        ("eﬃcient", "efficient"),
        ("﴾1﴿", "﴾1﴿"),  # brackets, which stand for nothing else
    ],
)
def test_ligatures_are_the_letters_they_stand_for_in_their_order(monkeypatch, shown: str, letters: str) -> None:
    class Text:
        def extractWORDS(self):
            return [(0, 0, 1, 1, shown, 0, 0, 0)]

        def extractText(self):
            return shown

        def extractDICT(self):
            return {"blocks": [{"lines": [{"spans": [{"text": shown}]}]}, {"type": 3}]}

    for module in (mupdf, page_contents):
        monkeypatch.setattr(module, "text_page", lambda page, flags: Text())
    page = pymupdf.open().new_page()
    assert mupdf.words(page)[0][4] == letters
    assert page_contents.raw_blocks(page)[0]["lines"][0]["spans"][0]["text"] == letters
